// SPDX-License-Identifier: Apache-2.0
//
// An auto-reset event: notify() sets it, one wait() takes it and resets it. Notifications that come
// before the event is taken merge into one. It is two words and holds no pointer.
//
// Event: constructed in shared memory it works between processes. A process that dies while it
// waits takes nothing with it; the others only pay a needless system call for each notification
// from then on.
//
// ThreadEvent: for the threads of one process, where the kernel finds the waiters faster.
#pragma once

#include "takt/os/clock.hpp"
#include "takt/os/futex.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

template <FutexScope Scope>
class BasicEvent {
 public:
  BasicEvent() noexcept = default;
  BasicEvent(const BasicEvent&) = delete;
  BasicEvent& operator=(const BasicEvent&) = delete;
  BasicEvent(BasicEvent&&) = delete;
  BasicEvent& operator=(BasicEvent&&) = delete;
  ~BasicEvent() = default;

  // Sets the event and wakes one waiter. No system call when nobody waits. What was written before
  // notify() is visible after the wait() that takes it. Safe in a signal handler.
  void notify() noexcept {
    set_.store(1);
    // Sequentially consistent with the waiter, who announces itself first and looks second: one of
    // the two always sees the other. Wakes also when the event was set already: the waiter that was
    // woken for it may have died, and whoever set it may have been preempted before it woke
    // anybody.
    if (waiters_.load() != 0) {
      futex_wake(set_, 1, Scope);
    }
  }

  // Takes the event if it is set; never sleeps.
  bool try_wait() noexcept { return set_.exchange(0) != 0; }

  // Sleeps until the event is set and takes it.
  void wait() noexcept;

  // The same until `deadline`; false when the event was not set by then. A deadline that has
  // passed makes this a try_wait().
  bool wait_until(TimePoint deadline) noexcept;

 private:
  FutexWord set_{0};
  FutexWord waiters_{0};
};

extern template class TAKT_CORE_PUBLIC BasicEvent<FutexScope::shared>;
extern template class TAKT_CORE_PUBLIC BasicEvent<FutexScope::process>;

using Event = BasicEvent<FutexScope::shared>;
using ThreadEvent = BasicEvent<FutexScope::process>;

}  // namespace takt::os
