// SPDX-License-Identifier: Apache-2.0
//
// A wall timer of a node that an executor spins: created once, started by reset().
#pragma once

#include <optional>
#include <rclcpp/node.hpp>
#include <rclcpp/timer.hpp>

#include "spinner.hpp"
#include "takt/probe/timer.hpp"

namespace takt::probe {

class RclcppTimer : public Timer {
 public:
  RclcppTimer(const Options& options, os::StopFlag& stop);

  /// `interval` is the one of the options.
  std::optional<os::TimePoint> start(std::chrono::nanoseconds interval) noexcept override;
  std::optional<Expiry> wait(os::TimePoint deadline) noexcept override;
  void stop() noexcept override;
  std::optional<os::NotGranted> problem() const override;

 private:
  struct Call {
    os::TimePoint called{};
    os::TimePoint expected{};
    os::TimePoint actual{};  // as rcl saw it
  };

  void called(const rclcpp::TimerInfo& info) noexcept;

  bool oneshot_;
  std::chrono::nanoseconds interval_;
  os::TimePoint started_{};
  std::optional<os::TimePoint> expected_;
  std::optional<os::NotGranted> failure_;
  Handover<Call> calls_;
  rclcpp::Node::SharedPtr node_;
  rclcpp::TimerBase::SharedPtr timer_;
  std::optional<Spinner> spinner_;
};

}  // namespace takt::probe
