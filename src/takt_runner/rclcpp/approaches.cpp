// SPDX-License-Identifier: Apache-2.0
#include <takt/rclcpp/any_executor.hpp>

#include "names.hpp"
#include "settings.hpp"

namespace takt::runner {

const std::map<std::string, Approach>& approaches() {
  static const std::map<std::string, Approach> all = [] {
    std::map<std::string, Approach> known{{"takt", run_takt}};  // robots have both in one run
    for (const std::string& executor : takt_rclcpp::executor_names()) {
      known.emplace(approach_prefix + executor, run_rclcpp);
    }
    known.emplace(std::string{approach_prefix} + "baseline1", run_rclcpp_baseline1);
    return known;
  }();
  return all;
}

RclcppProcess rclcpp_process() {
  return run_rclcpp_process;
}

}  // namespace takt::runner
