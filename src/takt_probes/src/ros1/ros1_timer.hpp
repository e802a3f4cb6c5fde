// SPDX-License-Identifier: Apache-2.0
//
// The timers of roscpp. A thread of roscpp sleeps until the timer expires and queues the callback;
// the probe's thread takes it from there and runs it. All three kinds are the same template on
// different clocks.
#pragma once

#include <algorithm>
#include <exception>
#include <string>

#include "ros1_node.hpp"
#include "takt/probe/timer.hpp"

namespace takt::probe {

/// How each kind is made; Duration and Event are its own types.
struct RosTimerMaker {  // ros::Time: the wall clock, or simulated time
  using Handle = ros::Timer;
  using Duration = ros::Duration;
  using Event = ros::TimerEvent;
  template <class... Arguments>
  static Handle make(const ros::NodeHandle& node, Arguments&&... arguments) {
    return node.createTimer(std::forward<Arguments>(arguments)...);
  }
};
struct WallTimerMaker {  // the wall clock
  using Handle = ros::WallTimer;
  using Duration = ros::WallDuration;
  using Event = ros::WallTimerEvent;
  template <class... Arguments>
  static Handle make(const ros::NodeHandle& node, Arguments&&... arguments) {
    return node.createWallTimer(std::forward<Arguments>(arguments)...);
  }
};
struct SteadyTimerMaker {  // the monotonic clock
  using Handle = ros::SteadyTimer;
  using Duration = ros::WallDuration;
  using Event = ros::SteadyTimerEvent;
  template <class... Arguments>
  static Handle make(const ros::NodeHandle& node, Arguments&&... arguments) {
    return node.createSteadyTimer(std::forward<Arguments>(arguments)...);
  }
};

template <class Maker>
class Ros1Timer : public Timer {
 public:
  Ros1Timer(const Options& options, os::StopFlag& stop)
      : options_{options},
        stop_{stop},
        interval_{options.kind == Kind::timer_oneshot ? options.timeout : options.period} {
    const auto called = [this](const typename Maker::Event& event) { fired(event); };
    const bool oneshot = options.kind == Kind::timer_oneshot;
    timer_ =
        Maker::make(lane_.handle, duration(interval_),
                    boost::function<void(const typename Maker::Event&)>{called}, oneshot, false);
  }

  std::optional<os::TimePoint> start(std::chrono::nanoseconds interval) noexcept override {
    return guarded<os::TimePoint>([&]() -> std::optional<os::TimePoint> {
      timer_.stop();  // roscpp's own way to start a one-shot timer again
      if (interval != interval_) {
        interval_ = interval;
        timer_.setPeriod(duration(interval));
      }
      const auto started = os::now();
      timer_.start();
      return started;
    });
  }

  std::optional<Expiry> wait(os::TimePoint deadline) noexcept override {
    return guarded<Expiry>([&]() -> std::optional<Expiry> {
      expiry_.reset();
      lane_.run_until(deadline, options_, stop_, [this] { return expiry_.has_value(); });
      return expiry_;
    });
  }

  void stop() noexcept override {
    guarded<bool>([&]() -> std::optional<bool> {
      timer_.stop();
      return true;
    });
  }

  std::optional<os::NotGranted> problem() const override {
    if (failure_.empty()) {
      return {};
    }
    return os::NotGranted{.what = "a timer of roscpp could not be started or called",
                          .why = failure_,
                          .fix = "look at roscpp's own output above"};
  }

 private:
  static typename Maker::Duration duration(std::chrono::nanoseconds interval) {
    return typename Maker::Duration{}.fromNSec(interval.count());
  }

  void fired(const typename Maker::Event& event) {
    const auto called = os::now();
    // The expected times lie a period apart, unless roscpp gave up expiries that it was late for.
    const std::int64_t apart = (event.current_expected - event.last_expected).toNSec();
    const std::int64_t periods = (apart + interval_.count() / 2) / interval_.count();
    expiry_ =
        Expiry{.called = called,
               .reported =
                   std::chrono::nanoseconds{(event.current_real - event.current_expected).toNSec()},
               .passed_over = static_cast<std::uint64_t>(std::max<std::int64_t>(periods - 1, 0))};
  }

  template <class Value, class Action>
  std::optional<Value> guarded(const Action& action) noexcept {
    try {
      return action();
    } catch (const std::exception& error) {
      failure_ = error.what();
      return {};
    }
  }

  const Options& options_;
  os::StopFlag& stop_;
  std::chrono::nanoseconds interval_;
  CallbackLane lane_;
  std::optional<Expiry> expiry_;
  std::string failure_;
  typename Maker::Handle timer_;  // last: it is gone before what its callback uses
};

}  // namespace takt::probe
