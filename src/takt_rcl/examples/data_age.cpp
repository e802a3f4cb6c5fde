// SPDX-License-Identifier: Apache-2.0
//
// Data age: steering must never use a position that was sampled more than 60 ms ago. The receiver's
// own period of 100 ms is too long for that, so Takt releases it early when it is needed.
// Usage: data_age [trace file]
#include <cstdio>
#include <std_msgs/msg/float64.hpp>
#include <takt/rcl/scheduling_executor.hpp>

#include "work.hpp"

using namespace std::chrono_literals;
using Position = std_msgs::msg::Float64;

int main(int argc, char** argv) try {
  const takt::Context context{argc, argv};
  const takt::Node receiver{context, "receiver"};
  const takt::Node steering{context, "steering"};
  const auto out = receiver.create_publisher<Position>("position", takt::QoS{1});
  const auto in = steering.create_subscription<Position>("position", takt::QoS{1});

  takt::SchedulingExecutor executor{
      {.policy = takt::fixed_priority(), .trace = trace_argument(context)}};
  const auto sample = receiver.create_timer(100ms, [&] { out->publish(Position{}); });
  const auto steer = steering.create_timer(25ms, [&](const takt::Job& job) {
    if (job.index >= 40) executor.request_stop();
  });
  executor.add(sample,
               {.name = "sample", .priority = 50, .writes = {out}, .expected_execution = 1ms});
  executor.add(steer, {.name = "steer", .priority = 80, .reads = {in}, .max_age = 60ms});
  executor.on_age_violation([&](const takt::AgeViolation& violation) noexcept {
    std::printf("%s is too old for %s\n", std::string{violation.topic}.c_str(),
                executor.task_name(violation.task).c_str());
  });
  executor.spin();
  std::printf("early releases of sample: %lu; violations: %lu\n",
              executor.statistics("sample").early_releases,
              executor.statistics("steer").age_violations);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "data_age: %s\n", error.what());
  return 1;
}
