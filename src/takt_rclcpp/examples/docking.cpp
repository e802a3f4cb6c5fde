// SPDX-License-Identifier: Apache-2.0
//
// Both nodes in one process, until Ctrl-C:
//
//   docking --takt-timing docking.timing.yaml --takt-record docking.trace
#include <cstdio>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <takt/rclcpp/scheduling_executor.hpp>

#include "guard.hpp"
#include "radar.hpp"

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  const auto pointers = rclcpp::NodeOptions{}.use_intra_process_comms(true);
  const auto radar = std::make_shared<docking::Radar>(pointers);
  const auto guard = std::make_shared<docking::Guard>(pointers);
  takt_rclcpp::SchedulingExecutor executor;  // reads --takt-timing and --takt-record
  executor.add_node(radar);
  executor.add_node(guard);
  executor.spin();
  for (const char* const callback : {"radar.timer0", "guard.timer0"}) {
    const auto did = executor.statistics(callback);
    std::printf("%s: %llu jobs, %llu deadlines missed, %llu releases skipped, %llu on old data\n",
                callback, static_cast<unsigned long long>(did.completed),
                static_cast<unsigned long long>(did.deadline_misses),
                static_cast<unsigned long long>(did.skipped),
                static_cast<unsigned long long>(did.age_violations));
  }
  rclcpp::shutdown();
}
