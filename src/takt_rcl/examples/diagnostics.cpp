// SPDX-License-Identifier: Apache-2.0
//
// An executor that says how its tasks do: watch it with `takt top`. The slow task takes longer than
// its deadline now and then, and holds up nobody who is more urgent.
// Usage: diagnostics [--ros-args …], to Ctrl-C
#include <cstdio>
#include <takt/os/stop.hpp>
#include <takt/rcl/diagnostics.hpp>
#include <takt/rcl/scheduling_executor.hpp>

#include "work.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  const takt::Context context{argc, argv};
  const takt::Node node{context, "watched"};
  takt::os::StopFlag stop;
  const takt::os::StopOnSignal on_signal{stop};

  takt::SchedulingExecutor executor{{.policy = takt::fixed_priority()}};
  executor.add(node.create_timer(10ms, [] { compute_for(1ms); }),
               {.name = "steady", .priority = 80});
  executor.add(
      node.create_timer(
          50ms, [](const takt::Job& job) { compute_for(job.index % 10 == 9 ? 30ms : 5ms); }),
      {.name = "slow", .priority = 10, .deadline = 20ms});
  executor.start();
  const takt::Diagnostics diagnostics{node, executor};
  stop.wait();
  executor.stop();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "diagnostics: %s\n", error.what());
  return 1;
}
