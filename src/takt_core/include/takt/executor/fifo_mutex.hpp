// SPDX-License-Identifier: Apache-2.0
/// @file
/// Mutexes across cores for which jobs wait without their core, in the order of their requests
/// (FMLP+: Brandenburg 2014). A holder comes before all other threads of its core but holders that
/// asked for their mutexes earlier: it has a real-time priority above those of all jobs meanwhile.
/// Threads without a real-time priority keep theirs.
#pragma once

#include <cstdint>

#include "takt/executor/mutex.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

struct FifoRequest;

/// The order of all requests for the mutexes of a process.
class TAKT_CORE_PUBLIC RequestOrder {
 public:
  RequestOrder() = default;

 private:
  friend class FifoMutex;

  void add_holder(FifoRequest& request) noexcept;
  void remove_holder(FifoRequest& request) noexcept;
  [[nodiscard]] FifoRequest* first_on(int cpu) const noexcept;

  PriorityMutex mutex_;
  // Guarded by the mutex.
  std::uint64_t last_ = 0;
  FifoRequest* holders_ = nullptr;  // of all cores
};

/// One of these mutexes. Meets the requirements of std::lock_guard. A thread holds one of them at a
/// time.
class TAKT_CORE_PUBLIC FifoMutex {
 public:
  /// @param order must outlive the mutex.
  explicit FifoMutex(RequestOrder& order) noexcept : order_{order} {}

  /// Asks for the mutex. @return whether the calling thread holds it now; if not, it must wait().
  bool request() noexcept;

  /// Sleeps until the calling thread holds it.
  static void wait() noexcept;

  /// Waits until it holds the mutex.
  void lock() noexcept {
    if (!request()) {
      wait();
    }
  }

  /// Hands it to the next one in the queue. By the thread that holds it.
  void unlock() noexcept;

 private:
  RequestOrder& order_;
  FifoRequest* holder_ = nullptr;  // guarded by the order; behind it those who wait
};

}  // namespace takt::executor
