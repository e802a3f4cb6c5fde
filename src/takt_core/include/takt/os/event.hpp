// SPDX-License-Identifier: Apache-2.0
/// @file
/// An auto-reset event: notify() sets it, and one wait() takes and resets it. Notifications that
/// arrive before the event is taken merge into one. An event is two words and contains no pointer.
///
/// Event, constructed in shared memory, works between processes. A process that dies while it waits
/// blocks nobody; the others only pay a needless system call for each notification from then on.
/// ThreadEvent serves the threads of one process, where the kernel finds waiters faster.
#pragma once

#include "takt/os/clock.hpp"
#include "takt/os/futex.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

/// An auto-reset event on a futex. All functions are thread-safe; notify() and try_wait() are
/// wait-free but for the system call that wakes a waiter.
/// @tparam Scope whether processes share the memory of the event.
template <FutexScope Scope>
class BasicEvent {
 public:
  BasicEvent() noexcept = default;
  BasicEvent(const BasicEvent&) = delete;
  BasicEvent& operator=(const BasicEvent&) = delete;
  BasicEvent(BasicEvent&&) = delete;
  BasicEvent& operator=(BasicEvent&&) = delete;
  ~BasicEvent() = default;

  /// Sets the event and wakes one waiter; makes no system call if nobody waits. Writes before
  /// notify() are visible after the wait() that takes the event. Safe in a signal handler.
  void notify() noexcept {
    set_.store(1);
    // Sequentially consistent with the waiter, who announces itself first and looks second: one of
    // the two always sees the other. Wakes also when the event was set already: the waiter that was
    // woken for it may have died, and the thread that set it may have been preempted before its
    // wake-up.
    if (waiters_.load() != 0) {
      futex_wake(set_, 1, Scope);
    }
  }

  /// Takes the event if it is set; never sleeps. @return whether it was set.
  bool try_wait() noexcept { return set_.exchange(0) != 0; }

  /// Sleeps until the event is set, and takes it.
  void wait() noexcept;

  /// Sleeps until the event is set, and takes it. With a deadline in the past this is try_wait().
  /// @return false if the event was not set by `deadline`.
  bool wait_until(TimePoint deadline) noexcept;

 private:
  FutexWord set_{0};
  FutexWord waiters_{0};
};

extern template class TAKT_CORE_PUBLIC BasicEvent<FutexScope::shared>;
extern template class TAKT_CORE_PUBLIC BasicEvent<FutexScope::process>;

/// An event that processes may share.
using Event = BasicEvent<FutexScope::shared>;
/// An event for the threads of one process.
using ThreadEvent = BasicEvent<FutexScope::process>;

}  // namespace takt::os
