// SPDX-License-Identifier: Apache-2.0
//
// The kernel's own timers, which all others are built on. They follow absolute times: a late expiry
// never moves the next one, and none but the timerfd passes over any.
#pragma once

#include "takt/os/event.hpp"
#include "takt/os/stop.hpp"
#include "takt/probe/options.hpp"
#include "takt/probe/timer.hpp"

namespace takt::probe {

/// What sleeps until an absolute time, again and again.
class SleepingTimer : public Timer {
 public:
  explicit SleepingTimer(os::StopFlag& stop) : stop_{stop} {}

  std::optional<os::TimePoint> start(std::chrono::nanoseconds interval) noexcept final;
  std::optional<Expiry> wait(os::TimePoint deadline) noexcept final;
  void stop() noexcept final {}

 protected:
  /// Ends early when a stop is requested.
  virtual void sleep_until(os::TimePoint due) noexcept = 0;

  os::StopFlag& stop_;

 private:
  std::chrono::nanoseconds interval_{0};
  os::TimePoint due_{};
};

/// clock_nanosleep.
class NanosleepTimer : public SleepingTimer {
 public:
  using SleepingTimer::SleepingTimer;

 private:
  void sleep_until(os::TimePoint due) noexcept override;
};

/// The timeout of a wait for a futex that nobody wakes.
class FutexTimer : public SleepingTimer {
 public:
  explicit FutexTimer(os::StopFlag& stop) : SleepingTimer{stop} { stop_.attach(never_set_); }
  ~FutexTimer() override { stop_.detach(never_set_); }
  FutexTimer(const FutexTimer&) = delete;
  FutexTimer& operator=(const FutexTimer&) = delete;

 private:
  void sleep_until(os::TimePoint due) noexcept override;

  os::Event never_set_;  // but by a stop request
};

/// A timerfd that is polled and read.
class TimerfdTimer : public Timer {
 public:
  /// Throws Failure.
  TimerfdTimer(const Options& options, os::StopFlag& stop);
  ~TimerfdTimer() override;
  TimerfdTimer(const TimerfdTimer&) = delete;
  TimerfdTimer& operator=(const TimerfdTimer&) = delete;

  std::optional<os::TimePoint> start(std::chrono::nanoseconds interval) noexcept override;
  std::optional<Expiry> wait(os::TimePoint deadline) noexcept override;
  void stop() noexcept override;
  std::optional<os::NotGranted> problem() const override;

 private:
  bool wait_for_expiry(os::TimePoint deadline) noexcept;

  const Options& options_;
  os::StopFlag& stop_;
  int file_;
  int error_ = 0;
};

}  // namespace takt::probe
