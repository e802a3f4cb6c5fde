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
#include <memory>
#include <mutex>
#include <takt/executor/mutex.hpp>
#include <utility>

namespace takt::detail {

class Notice {
 public:
  using Function = std::function<void(std::size_t)>;
  // Who is told, or says who is told, is alone. From inside, whoever is told may do either.
  using Turn = executor::RecursivePriorityMutex;

  // Of a source that keeps the newest `depth` messages. `turn`: shared by those that tell one
  // function.
  explicit Notice(std::size_t depth, std::shared_ptr<Turn> turn = std::make_shared<Turn>())
      : turn_{std::move(turn)}, depth_{depth} {}

  [[nodiscard]] const std::shared_ptr<Turn>& turn() const noexcept { return turn_; }

  // Waits for a call that is under way on another thread. The new function is called at once with
  // what was announced and not taken; what is announced meanwhile reaches either the former one or
  // the new one.
  void set(Function function) {
    auto next = function ? std::make_shared<Function>(std::move(function)) : nullptr;
    const std::lock_guard lock{*turn_};
    function_.swap(next);
    const std::size_t left = std::min<std::size_t>(waiting(), depth_);
    if (left > 0) {
      tell(left);
    }
  }

  // So many messages arrived. From any thread.
  void call(std::size_t count) noexcept {
    const std::lock_guard lock{*turn_};
    announced_.store(announced_.load(std::memory_order_relaxed) + count, std::memory_order_release);
    tell(count);
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
  // It stays until it returns, whomever it sets instead.
  void tell(std::size_t count) {
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
