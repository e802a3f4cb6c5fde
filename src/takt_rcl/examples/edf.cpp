// SPDX-License-Identifier: Apache-2.0
//
// Earliest deadline first: callbacks that are released together run in the order of their
// deadlines, whatever the order in which they were added.
// Usage: edf [trace file]
#include <cstdio>
#include <takt/rcl/scheduling_executor.hpp>

#include "work.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  const takt::Context context{argc, argv};
  const takt::Node node{context, "robot"};
  takt::SchedulingExecutor executor{{.policy = takt::edf(), .trace = trace_argument(context)}};

  const auto step = [](const char* name, const char* deadline) {
    return [=] {
      compute_for(2ms);
      std::printf("%s, due after %s\n", name, deadline);
    };
  };
  executor.add(node.create_timer(100ms, step("logging", "90 ms")), {.deadline = 90ms});
  executor.add(node.create_timer(100ms, step("control", "20 ms")), {.deadline = 20ms});
  executor.add(node.create_timer(100ms, step("vision", "50 ms")), {.deadline = 50ms});
  const auto end = node.create_timer(300ms, [&](const takt::Job& job) {
    if (job.index >= 1) executor.request_stop();
  });
  executor.add(end, {.name = "end", .deadline = 10ms});
  executor.spin();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "edf: %s\n", error.what());
  return 1;
}
