// SPDX-License-Identifier: Apache-2.0
#include "rclcpp_timer.hpp"

#include <algorithm>
#include <exception>
#include <rclcpp/create_timer.hpp>

#include "node_of.hpp"

namespace takt::probe {
namespace {

os::TimePoint time_of(const rclcpp::Time& time) {
  return os::TimePoint{std::chrono::nanoseconds{time.nanoseconds()}};
}

}  // namespace

RclcppTimer::RclcppTimer(const Options& options, os::StopFlag& stop)
    : oneshot_{options.kind == Kind::timer_oneshot},
      interval_{oneshot_ ? options.timeout : options.period},
      calls_{stop},
      node_{node_of(Role::both)},
      timer_{node_->create_wall_timer(interval_,
                                      [this](const rclcpp::TimerInfo& info) { called(info); })} {
  timer_->cancel();  // it must not run before its start
  spinner_.emplace(options, Role::both, node_, stop);
}

void RclcppTimer::called(const rclcpp::TimerInfo& info) noexcept {
  const auto now = os::now();
  if (oneshot_) {
    timer_->cancel();
  }
  calls_.put({.called = now,
              .expected = time_of(info.expected_call_time),
              .actual = time_of(info.actual_call_time)});
}

std::optional<os::TimePoint> RclcppTimer::start(std::chrono::nanoseconds /*interval*/) noexcept {
  expected_.reset();
  started_ = os::now();
  try {
    timer_->reset();
  } catch (const std::exception& error) {
    failure_ = os::NotGranted{.what = "the timer could not be started",
                              .why = error.what(),
                              .fix = "check the ROS environment"};
    return {};
  }
  return started_;
}

std::optional<Expiry> RclcppTimer::wait(os::TimePoint deadline) noexcept {
  while (const auto call = calls_.take(deadline)) {
    if (call->expected < started_) {
      continue;  // of a start before, stopped meanwhile
    }
    // The expected times lie a period apart, unless rcl passed over some that it was late for.
    const auto apart = call->expected - expected_.value_or(call->expected);
    const std::int64_t periods = (apart + interval_ / 2) / interval_;
    expected_ = call->expected;
    return Expiry{
        .called = call->called,
        .reported = call->actual - call->expected,
        .passed_over = static_cast<std::uint64_t>(std::max<std::int64_t>(periods - 1, 0))};
  }
  return {};
}

void RclcppTimer::stop() noexcept {
  try {
    timer_->cancel();
  } catch (const std::exception& error) {
    failure_ = os::NotGranted{.what = "the timer could not be stopped",
                              .why = error.what(),
                              .fix = "check the ROS environment"};
  }
}

std::optional<os::NotGranted> RclcppTimer::problem() const {
  return failure_ ? failure_ : spinner_->problem();
}

}  // namespace takt::probe
