// SPDX-License-Identifier: Apache-2.0
//
// Uses the former name of takt_rclcpp, as programs of users do. It is compiled as a test: it has to
// work, and the compiler has to say what the name is now.
#include "takt/rclcpp/deprecated.hpp"
#include "takt/rclcpp/timing.hpp"

namespace {

takt_rclcpp::Timing urgent(const takt::rclcpp::CallbackId& id) {
  return takt::rclcpp::Timing{
      .priority = id.kind == takt::rclcpp::CallbackKind::timer ? 60 : 20,
  };
}

}  // namespace

int main() {
  const takt::rclcpp::TimingRule rule = urgent;
  return rule({}).priority == 60 ? 0 : 1;
}
