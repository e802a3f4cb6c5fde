// SPDX-License-Identifier: Apache-2.0
/// @file
/// A mutex with priority inheritance: its holder runs at least as urgently as the most urgent
/// thread that waits for it, so a waiter waits for one critical section at most.
#pragma once

#include <cstdint>

#include "takt/os/futex.hpp"
#include "takt/os/thread_id.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

/// A non-recursive mutex with priority inheritance. Meets the requirements of std::lock_guard and
/// std::unique_lock. The kernel's protocol is that of PTHREAD_PRIO_INHERIT (futex(2),
/// FUTEX_LOCK_PI); where nobody waits, a mutex is one exchange, without a call.
class TAKT_CORE_PUBLIC PriorityMutex {
 public:
  /// Creates an unlocked mutex.
  /// @throws std::system_error if the kernel has no priority inheritance.
  PriorityMutex();

  /// The mutex must be unlocked.
  ~PriorityMutex() = default;
  PriorityMutex(const PriorityMutex&) = delete;
  PriorityMutex& operator=(const PriorityMutex&) = delete;
  PriorityMutex(PriorityMutex&&) = delete;
  PriorityMutex& operator=(PriorityMutex&&) = delete;

  /// Waits until the mutex is free. Locking it twice in one thread deadlocks.
  void lock() noexcept {
    if (!try_lock()) {
      os::futex_lock_pi(holder_);
    }
  }

  /// Releases the mutex. By the thread that holds it.
  void unlock() noexcept {
    std::uint32_t me = os::own_thread_id();
    if (!holder_.compare_exchange_strong(me, 0, std::memory_order_release,
                                         std::memory_order_relaxed)) {
      os::futex_unlock_pi(holder_);  // somebody waits
    }
  }

  /// Locks the mutex if it is free.
  /// @return whether the calling thread now holds it.
  bool try_lock() noexcept {
    std::uint32_t nobody = 0;
    return holder_.compare_exchange_strong(nobody, os::own_thread_id(), std::memory_order_acquire,
                                           std::memory_order_relaxed);
  }

 protected:
  /// Whether the calling thread holds it.
  [[nodiscard]] bool is_mine() const noexcept {
    return os::futex_pi_holder(holder_) == os::own_thread_id();
  }

 private:
  os::FutexWord holder_{0};  // its thread id, and whether somebody waits
};

/// A mutex with priority inheritance that its holder may lock again, for code that calls user
/// functions while it holds the mutex, which may call back.
class RecursivePriorityMutex : private PriorityMutex {
 public:
  /// Waits until the mutex is free, or is the calling thread's already.
  void lock() noexcept {
    if (!is_mine()) {
      PriorityMutex::lock();
    }
    ++depth_;
  }

  /// Releases the mutex with the last of as many calls as lock(). By the thread that holds it.
  void unlock() noexcept {
    if (--depth_ == 0) {
      PriorityMutex::unlock();
    }
  }

  /// Locks the mutex if it is free, or is the calling thread's already.
  /// @return whether the calling thread now holds it.
  bool try_lock() noexcept {
    const bool held = is_mine() || PriorityMutex::try_lock();
    depth_ += held ? 1 : 0;
    return held;
  }

 private:
  std::uint32_t depth_ = 0;  // of the thread that holds it
};

}  // namespace takt::executor
