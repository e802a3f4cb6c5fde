// SPDX-License-Identifier: Apache-2.0
//
// Several cores: tasks are spread over them once, before the start. Two say where they belong; for
// the others Takt chooses by load. Members of a group share a core.
// Usage: multi_core [trace file]
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <takt/os/thread.hpp>
#include <takt/rcl/scheduling_executor.hpp>

#include "work.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  const takt::Context context{argc, argv};
  const takt::Node node{context, "robot"};
  const std::vector<int> cpus = takt::os::current_thread().cpus;
  const int first = cpus.front();
  const int last = cpus.back();
  takt::SchedulingExecutor executor{
      {.policy = takt::edf(),
       .cpus = first == last ? std::vector{first} : std::vector{first, last},
       .trace = trace_argument(context)}};
  std::atomic<int> control_cpu{-1}, vision_cpu{-1}, write_cpu{-1}, read_cpu{-1};
  const auto note = [](std::atomic<int>& cpu) {
    return [&cpu] {
      compute_for(500us);
      cpu = sched_getcpu();
    };
  };
  executor.add(node.create_timer(10ms, note(control_cpu)), {.name = "control", .cpu = first});
  executor.add(node.create_timer(20ms, note(vision_cpu)), {.name = "vision", .cpu = last});
  const takt::TaskOptions map{.group = "map", .expected_execution = 500us};
  executor.add(node.create_timer(20ms, note(write_cpu)), map);
  executor.add(node.create_timer(30ms, note(read_cpu)), map);
  const auto end = node.create_timer(100ms, [&](const takt::Job& job) {
    if (job.index >= 2) executor.request_stop();
  });
  executor.add(end, {.name = "end"});
  executor.spin();
  std::printf("control on the %s core\n", control_cpu == first ? "first" : "wrong");
  std::printf("vision on the %s core\n", vision_cpu == last ? "last" : "wrong");
  std::printf("both users of the map on %s core\n",
              write_cpu == read_cpu ? "one" : "more than one");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "multi_core: %s\n", error.what());
  return 1;
}
