// SPDX-License-Identifier: Apache-2.0
/// @file
/// Notice: announces arriving messages to a listener, and counts how many announced messages are
/// still waiting, for the next listener.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <takt/executor/mutex.hpp>
#include <utility>

namespace takt::detail {

/// The announcements of one source of messages. Thread-safe unless a function says otherwise.
class Notice {
 public:
  /// Called with the number of new messages.
  using Function = std::function<void(std::size_t)>;
  /// Excludes that the listener is called while it is replaced. Recursive: the listener may replace
  /// itself.
  using Turn = executor::RecursivePriorityMutex;

  /// @param depth the source keeps the newest `depth` messages.
  /// @param turn shared by all sources that call the same function.
  explicit Notice(std::size_t depth, std::shared_ptr<Turn> turn = std::make_shared<Turn>())
      : turn_{std::move(turn)}, depth_{depth} {}

  [[nodiscard]] const std::shared_ptr<Turn>& turn() const noexcept { return turn_; }

  // Waits for a running call on another thread. Calls the new function at once with the number of
  // messages that were announced and not taken; a message that is announced meanwhile reaches
  // either the former function or the new one.
  void set(Function function) {
    auto next = function ? std::make_shared<Function>(std::move(function)) : nullptr;
    const std::lock_guard lock{*turn_};
    function_.swap(next);
    const std::size_t left = std::min<std::size_t>(waiting(), depth_);
    if (left > 0) {
      notify(left);
    }
  }

  // Announces that `count` messages arrived. From any thread.
  void call(std::size_t count) noexcept {
    const std::lock_guard lock{*turn_};
    announced_.store(announced_.load(std::memory_order_relaxed) + count, std::memory_order_release);
    notify(count);
  }

  // `count` messages, announced now or soon, are no longer waiting. From one thread at a time.
  void gone(std::uint64_t count) noexcept {
    gone_.store(gone_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }

  // Messages announced and not gone, as far as known: a source may drop old ones without a report.
  [[nodiscard]] std::uint64_t waiting() const noexcept {
    const std::uint64_t gone = gone_.load(std::memory_order_relaxed);
    const std::uint64_t announced = announced_.load(std::memory_order_acquire);
    return announced > gone ? announced - gone : 0;
  }

 private:
  // Keeps the function alive until it returns, even if it replaces itself.
  void notify(std::size_t count) {
    if (const auto function = function_) {
      (*function)(count);
    }
  }

  const std::shared_ptr<Turn> turn_;
  std::shared_ptr<Function> function_;
  const std::size_t depth_;
  std::atomic<std::uint64_t> announced_{0};  // written in turn
  std::atomic<std::uint64_t> gone_{0};
};

}  // namespace takt::detail
