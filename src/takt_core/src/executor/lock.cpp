// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/lock.hpp"

#include "crew.hpp"
#include "takt/os/clock.hpp"

namespace takt::executor {
namespace {

constexpr int looks_between_clocks = 64;
constexpr std::chrono::milliseconds most_spinning{100};
constexpr std::chrono::microseconds nap{100};

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void CeilingMutex::lock() noexcept {
  const sched::Level before = Crew::raise_ceiling(&name_);
  mutex_.lock();
  before_ = before;
}

void CeilingMutex::unlock() noexcept {
  const sched::Level before = before_;
  mutex_.unlock();
  Crew::lower_ceiling(before);
}

SpinMutex::Request SpinMutex::request() noexcept {
  const sched::Level before = Crew::raise_ceiling(nullptr);
  return {.number = next_.fetch_add(1, std::memory_order_relaxed), .before = before};
}

void SpinMutex::wait(const Request& request) noexcept {
  for (os::TimePoint end{}; !is_turn_of(request);) {
    for (int i = 0; i < looks_between_clocks && !is_turn_of(request); ++i) {
      pause();
    }
    const os::TimePoint now = os::now();
    end = end == os::TimePoint{} ? now + most_spinning : end;
    if (now > end) {
      os::sleep_until(now + nap);
    }
  }
  before_ = request.before;
}

void SpinMutex::unlock() noexcept {
  const sched::Level before = before_;
  serves_.store(serves_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  Crew::lower_ceiling(before);
}

}  // namespace takt::executor
