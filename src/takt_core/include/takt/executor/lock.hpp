// SPDX-License-Identifier: Apache-2.0
/// @file
/// Mutexes that callbacks hold while they compute, whose protocol needs the executor: it starts no
/// job that could wait for the holder. Both meet the requirements of std::lock_guard. A job leaves
/// first what it took last. Outside of an executor's jobs they are plain mutexes. The executor
/// cannot keep callbacks with a thread of their own (Task::waits) from starting: where some take
/// the mutex, or are on a core of those who do, its holder needs a real-time priority, too.
/// Callbacks with Binding::kernel_deadline must not take them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "takt/executor/mutex.hpp"
#include "takt/sched/policy.hpp"
#include "takt/sched/srp.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

/// A mutex of one core under the stack resource policy (Baker 1991), under every policy: while a
/// job holds it, no job starts up to the highest preemption level of the tasks that name the mutex
/// (sched::Task::locks). So a job that has started never waits for it. Of a mutex that no task
/// names, the holder keeps its core.
class TAKT_CORE_PUBLIC CeilingMutex {
 public:
  /// @param name as the tasks that take it name it.
  /// @param priority of the thread that holds it, at least; 0: that of its job.
  explicit CeilingMutex(std::string name, int priority = 0)
      : name_{std::move(name)}, priority_{priority} {}

  /// Raises the ceiling of the calling job, and takes the mutex.
  void lock() noexcept;

  /// Releases the mutex; jobs start that waited for it.
  void unlock() noexcept;

 private:
  const std::string name_;
  const int priority_;
  int own_priority_ = 0;                     // of the holder's thread; 0: it has not changed
  PriorityMutex mutex_;                      // for tasks that do not name it, and for other threads
  sched::Level before_ = sched::no_ceiling;  // the holder's ceiling without it
};

/// A spin lock across cores (MSRP: Gai, Lipari & Di Natale 2001): a job keeps its core from the
/// request to the end of the section, and jobs get the lock in the order of their requests. Where
/// the holder cannot get on, the others sleep between their looks after 100 ms.
class TAKT_CORE_PUBLIC SpinMutex {
 public:
  /// A place in the queue.
  struct Request {
    std::uint32_t number = 0;  ///< Counts the requests, and begins anew after 2^32 of them.
    sched::Level before = sched::no_ceiling;  ///< The ceiling of the job without the lock.
    int own_priority = 0;  ///< Of the thread without the lock; 0: it has not changed.
  };

  /// @param priority of a thread from its request on, at least; 0: that of its job.
  explicit SpinMutex(int priority = 0) noexcept : priority_{priority} {}

  /// Keeps the core, and takes a place in the queue.
  Request request() noexcept;

  /// Whether it is this request's turn.
  [[nodiscard]] bool is_turn_of(const Request& request) const noexcept {
    return serves_.load(std::memory_order_acquire) == request.number;
  }

  /// Spins until it is this request's turn, which then holds the lock.
  void wait(const Request& request) noexcept;

  /// Keeps the core until it has the lock.
  void lock() noexcept { wait(request()); }

  /// Hands the lock to the next in the queue; jobs start that waited for the core.
  void unlock() noexcept;

 private:
  const int priority_;
  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> serves_{0};
  sched::Level before_ = sched::no_ceiling;  // of the holder
  int own_priority_ = 0;                     // of the holder
};

}  // namespace takt::executor
