// SPDX-License-Identifier: Apache-2.0
/// @file
/// Timer: a callback with a period. Created by Node::create_timer(); runs after it was added to an
/// executor.
///
/// Timers follow CLOCK_MONOTONIC. ROS time (use_sim_time) may stop, jump and run at any speed, so a
/// deadline is meaningless in it; executors refuse the timers of nodes that use it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <takt/sched/job.hpp>
#include <type_traits>
#include <utility>

namespace takt {

/// A timer. Immutable but for its owner.
class Timer {
 public:
  /// The job identifies the release, its intended time and its deadline.
  using Callback = std::function<void(const sched::Job&)>;

  /// Use Node::create_timer().
  Timer(std::string name, bool uses_sim_time, std::chrono::nanoseconds period, Callback callback)
      : name_{std::move(name)},
        uses_sim_time_{uses_sim_time},
        period_{period},
        callback_{std::move(callback)} {}

  /// "node.timer1", counted from 1 in the order of creation within the node.
  [[nodiscard]] const std::string& get_name() const noexcept { return name_; }

  /// Distance of two releases; above zero.
  [[nodiscard]] std::chrono::nanoseconds get_period() const noexcept { return period_; }

  /// Whether its node uses ROS time from /clock.
  [[nodiscard]] bool uses_sim_time() const noexcept { return uses_sim_time_; }

  /// Calls the callback. For executors.
  void run(const sched::Job& job) const { callback_(job); }

  /// For executors: reserves the timer, so that its callback never runs twice at a time.
  /// @param owner identifies the executor.
  /// @throws std::logic_error if an owner has claimed it.
  void claim(const void* owner) {
    const void* present = nullptr;
    if (owner_.compare_exchange_strong(present, owner)) {
      return;
    }
    throw std::logic_error{"timer '" + name_ +
                           "': another executor has it; create one timer for each executor"};
  }

  /// For executors: ends the reservation; no effect for another owner.
  void release(const void* owner) noexcept { owner_.compare_exchange_strong(owner, nullptr); }

  /// Converts a function void() or void(const Job&).
  template <class Function>
  [[nodiscard]] static Callback make_callback(Function function) {
    if constexpr (std::is_invocable_v<Function&, const sched::Job&>) {
      return function;
    } else {
      static_assert(std::is_invocable_v<Function&>,
                    "the callback of a timer takes nothing or const takt::Job&");
      return [function = std::move(function)](const sched::Job&) mutable { function(); };
    }
  }

 private:
  std::string name_;
  bool uses_sim_time_;
  std::chrono::nanoseconds period_;
  Callback callback_;
  std::atomic<const void*> owner_{nullptr};
};

}  // namespace takt
