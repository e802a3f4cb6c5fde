// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

namespace takt::runner {

const std::map<std::string, Approach>& approaches() {
  static const std::map<std::string, Approach> all{
      {"takt", run_takt}, {"baseline0", run_baseline0}, {"baseline1", run_baseline1}};
  return all;
}

RclcppProcess rclcpp_process() {
  return nullptr;
}

}  // namespace takt::runner
