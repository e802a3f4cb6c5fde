// SPDX-License-Identifier: Apache-2.0
//
// A policy of one's own: any strict order over two pending jobs. This one runs the shortest job
// first, and lets each run to its end.
// Usage: custom_policy [trace file]
#include <cstdio>
#include <takt/rcl/scheduling_executor.hpp>

#include "work.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  const takt::Context context{argc, argv};
  const takt::Node node{context, "robot"};
  const auto shortest_first = takt::custom("shortest-first",
                                           [](const takt::Job& a, const takt::Job& b) {
                                             return a.expected_execution < b.expected_execution;
                                           },
                                           {.preemptive = false});
  takt::SchedulingExecutor executor{{.policy = shortest_first, .trace = trace_argument(context)}};

  for (const auto length : {6ms, 2ms, 4ms}) {
    const auto timer = node.create_timer(200ms, [length] {
      compute_for(length);
      std::printf("%d ms\n", static_cast<int>(length.count()));
    });
    executor.add(timer, {.expected_execution = length});
  }
  const auto end = node.create_timer(200ms, [&](const takt::Job& job) {
    std::puts("cycle ends");
    if (job.index >= 1) executor.request_stop();
  });
  executor.add(end, {.name = "end", .expected_execution = 8ms});
  executor.spin();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "custom_policy: %s\n", error.what());
  return 1;
}
