// SPDX-License-Identifier: Apache-2.0
//
// Hello, priorities: while a slow callback computes, an urgent one interrupts it. Both are timers
// of one node on one core; nothing but the priority differs. Usage: priorities [trace file]
#include <cstdio>
#include <takt/os/clock.hpp>
#include <takt/rcl/scheduling_executor.hpp>

#include "work.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  const takt::Context context{argc, argv};
  const takt::Node node{context, "hello"};
  takt::SchedulingExecutor executor{
      {.policy = takt::fixed_priority(), .trace = trace_argument(context)}};

  const auto slow = node.create_timer(100ms, [] {
    std::puts("slow begins");
    compute_for(50ms);
    std::puts("slow ends");
  });
  const auto urgent = node.create_timer(100ms, [&](const takt::Job& job) {
    std::puts("  urgent");
    if (job.index >= 2) executor.request_stop();
  });
  executor.add(slow, {.name = "slow", .priority = 10});
  executor.add(urgent, {.name = "urgent", .priority = 80, .offset = 20ms});
  executor.spin();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "priorities: %s\n", error.what());
  return 1;
}
