// SPDX-License-Identifier: Apache-2.0
//
// Fresh data: the guard reads the radar's topic. What has been published by the time its callback
// runs is delivered before it, so it never brakes on an old scan.
// Usage: fresh_data [trace file]
#include <cstdio>
#include <std_msgs/msg/u_int64.hpp>
#include <string>
#include <takt/rcl/scheduling_executor.hpp>

#include "work.hpp"

using namespace std::chrono_literals;
using Scan = std_msgs::msg::UInt64;

int main(int argc, char** argv) try {
  const takt::Context context{argc, argv};
  const takt::Node radar{context, "radar"};
  const takt::Node guard{context, "guard"};
  const auto out = radar.create_publisher<Scan>("scan", takt::QoS{1});
  const auto in = guard.create_subscription<Scan>("scan", takt::QoS{1});

  takt::SchedulingExecutor executor{
      {.policy = takt::fixed_priority(), .trace = trace_argument(context)}};
  const auto measure = radar.create_timer(20ms, [&](const takt::Job& job) {
    auto scan = std::make_unique<Scan>();
    scan->data = job.index;
    if (!out->publish(std::move(scan))) std::fprintf(stderr, "%s\n", takt::last_error());
  });
  const auto brake = guard.create_timer(20ms, [&](const takt::Job& job) {
    const auto scan = in->latest();  // null before the first one
    std::printf("cycle %lu brakes for %s\n", job.index,
                scan ? ("scan " + std::to_string(scan->data)).c_str() : "nothing");
    if (job.index >= 4) executor.request_stop();
  });
  executor.add(brake, {.name = "brake", .priority = 40, .reads = {in}});
  executor.add(measure, {.name = "measure", .priority = 80, .writes = {out}});
  executor.spin();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fresh_data: %s\n", error.what());
  return 1;
}
