// SPDX-License-Identifier: Apache-2.0
#include "raw_timers.hpp"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "takt/probe/failure.hpp"
#include "takt/probe/pacer.hpp"

namespace takt::probe {
namespace {

timespec as_timespec(std::chrono::nanoseconds duration) noexcept {
  return os::to_timespec(os::TimePoint{duration});
}

}  // namespace

std::optional<os::TimePoint> SleepingTimer::start(std::chrono::nanoseconds interval) noexcept {
  const auto started = os::now();
  interval_ = interval;
  due_ = started + interval;
  return started;
}

std::optional<Expiry> SleepingTimer::wait(os::TimePoint /*deadline*/) noexcept {
  sleep_until(due_);
  const auto called = os::now();
  if (stop_.requested()) {
    return {};
  }
  due_ += interval_;
  return Expiry{.called = called};
}

void NanosleepTimer::sleep_until(os::TimePoint due) noexcept {
  RealSleep::sleep_until(due, stop_);
}

void FutexTimer::sleep_until(os::TimePoint due) noexcept {
  never_set_.wait_until(due);
}

TimerfdTimer::TimerfdTimer(const Options& options, os::StopFlag& stop)
    : options_{options},
      stop_{stop},
      file_{timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)} {
  if (file_ < 0) {
    throw Failure{{.what = "a timerfd could not be created",
                   .why = os::error_text(errno),
                   .fix = "raise the limit for open files (ulimit -n)"}};
  }
}

TimerfdTimer::~TimerfdTimer() {
  close(file_);
}

std::optional<os::TimePoint> TimerfdTimer::start(std::chrono::nanoseconds interval) noexcept {
  const auto started = os::now();
  const bool cyclic = options_.kind == Kind::timer_cyclic;
  const itimerspec times{.it_interval = as_timespec(cyclic ? interval : interval.zero()),
                         .it_value = os::to_timespec(started + interval)};
  if (timerfd_settime(file_, TFD_TIMER_ABSTIME, &times, nullptr) != 0) {
    error_ = errno;
    return {};
  }
  return started;
}

std::optional<Expiry> TimerfdTimer::wait(os::TimePoint deadline) noexcept {
  while (!stop_.requested()) {
    std::uint64_t expired = 0;
    const auto got = read(file_, &expired, sizeof(expired));
    const auto called = os::now();
    if (got == sizeof(expired)) {
      return Expiry{.called = called, .passed_over = expired - 1};
    }
    if (errno != EAGAIN && errno != EINTR) {
      error_ = errno;
      return {};
    }
    if (called >= deadline || !wait_for_expiry(deadline)) {
      return {};
    }
  }
  return {};
}

bool TimerfdTimer::wait_for_expiry(os::TimePoint deadline) noexcept {
  if (options_.wait == Wait::busy) {
    give_way(options_);
    return true;
  }
  const auto slice = std::min<std::chrono::nanoseconds>(deadline - os::now(), longest_wait);
  const timespec timeout = as_timespec(slice);
  pollfd watched{.fd = file_, .events = POLLIN, .revents = 0};
  if (ppoll(&watched, 1, &timeout, nullptr) < 0 && errno != EINTR) {
    error_ = errno;
    return false;
  }
  return true;
}

void TimerfdTimer::stop() noexcept {
  const itimerspec disarmed{};
  timerfd_settime(file_, 0, &disarmed, nullptr);
}

std::optional<os::NotGranted> TimerfdTimer::problem() const {
  if (error_ == 0) {
    return {};
  }
  return os::NotGranted{.what = "the timerfd could not be set or read",
                        .why = os::error_text(error_),
                        .fix = "choose a shorter timeout or period"};
}

}  // namespace takt::probe
