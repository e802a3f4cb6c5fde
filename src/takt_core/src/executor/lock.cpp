// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/lock.hpp"

#include "crew.hpp"
#include "takt/os/clock.hpp"
#include "thread_priority.hpp"

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

// Raises the calling thread, if it has a real-time priority, to this one. Returns its former one; 0
// if it has not changed.
int raise_thread(int priority) noexcept {
  const int own = priority == 0 ? 0 : real_time_priority(0);
  if (own == 0 || own >= priority) {
    return 0;
  }
  set_real_time_priority(0, priority);
  return own;
}

void restore_thread(int priority) noexcept {
  if (priority > 0) {
    set_real_time_priority(0, priority);
  }
}

}  // namespace

void CeilingMutex::lock() noexcept {
  const int own_priority = raise_thread(priority_);
  const sched::Level before = Crew::raise_ceiling(&name_);
  mutex_.lock();
  before_ = before;
  own_priority_ = own_priority;
}

void CeilingMutex::unlock() noexcept {
  const sched::Level before = before_;
  const int own_priority = own_priority_;
  mutex_.unlock();
  Crew::lower_ceiling(before);
  restore_thread(own_priority);
}

SpinMutex::Request SpinMutex::request() noexcept {
  const int own_priority = raise_thread(priority_);
  const sched::Level before = Crew::raise_ceiling(nullptr);
  return {.number = next_.fetch_add(1, std::memory_order_relaxed),
          .before = before,
          .own_priority = own_priority};
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
  own_priority_ = request.own_priority;
}

void SpinMutex::unlock() noexcept {
  const sched::Level before = before_;
  const int own_priority = own_priority_;
  serves_.store(serves_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  Crew::lower_ceiling(before);
  restore_thread(own_priority);
}

}  // namespace takt::executor
