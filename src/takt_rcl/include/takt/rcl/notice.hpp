// SPDX-License-Identifier: Apache-2.0
//
// Notice: whom to tell about messages that arrive, and how many of those that were announced wait
// still, for whoever listens next.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <takt/executor/mutex.hpp>

namespace takt::detail {

class Notice {
 public:
  using Function = std::function<void(std::size_t)>;

  // Of a source that keeps the newest `depth` messages.
  explicit Notice(std::size_t depth) : depth_{depth} {}

  // Waits for a call that is under way. The new function is called at once with what was announced
  // and not taken; what is announced meanwhile reaches either the former one or the new one.
  void set(Function function) {
    const std::lock_guard lock{mutex_};
    function_.swap(function);
    const std::size_t left = std::min<std::size_t>(waiting(), depth_);
    if (function_ && left > 0) {
      function_(left);
    }
  }

  // So many messages arrived. From any thread.
  void call(std::size_t count) noexcept {
    const std::lock_guard lock{mutex_};
    announced_.store(announced_.load(std::memory_order_relaxed) + count, std::memory_order_release);
    if (function_) {
      function_(count);
    }
  }

  // So many messages, announced by now or soon, are there no more. From one thread at a time.
  void gone(std::uint64_t count) noexcept {
    gone_.store(gone_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }

  // Announced and not gone, as far as known: a source may drop old ones without a word.
  [[nodiscard]] std::uint64_t waiting() const noexcept {
    const std::uint64_t gone = gone_.load(std::memory_order_relaxed);
    const std::uint64_t announced = announced_.load(std::memory_order_acquire);
    return announced > gone ? announced - gone : 0;
  }

 private:
  executor::PriorityMutex mutex_;
  Function function_;
  const std::size_t depth_;
  std::atomic<std::uint64_t> announced_{0};  // written under the mutex
  std::atomic<std::uint64_t> gone_{0};
};

}  // namespace takt::detail
