// SPDX-License-Identifier: Apache-2.0
/// @file
/// The counters of each task. The thread that runs the task writes them; any thread may read them
/// at any time. The values of one snapshot may be one job apart from each other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace takt::executor {

using std::chrono::nanoseconds;

/// A snapshot of the counters of one task. Every release is counted in `completed` or `skipped`
/// exactly once; the difference to `releases` is pending or running, or was pending at a stop.
/// Without a trace, a job that follows another one at once has started when that one ended.
struct TaskStatistics {
  std::uint64_t releases = 0;         ///< Releases noticed so far, including dropped ones.
  std::uint64_t completed = 0;        ///< Jobs that have ended.
  std::uint64_t skipped = 0;          ///< Releases dropped by the overrun policy.
  std::uint64_t lost_arrivals = 0;    ///< Messages for which the queue had no room.
  std::uint64_t early_releases = 0;   ///< Releases brought forward to keep a data age.
  std::uint64_t deadline_misses = 0;  ///< Jobs that ended after their deadline.
  std::uint64_t budget_overruns = 0;  ///< Jobs that used more CPU time than their budget.
  std::uint64_t age_violations = 0;   ///< Jobs that started on data older than they allow.
  std::uint64_t delivered = 0;        ///< Messages delivered before the callback.
  nanoseconds worst_response{0};      ///< From the intended release to the end.
  nanoseconds worst_lateness{0};      ///< From the intended release to the start.
  nanoseconds worst_age{0};           ///< Of data with a maximum age, at the start of the job.
  nanoseconds worst_cpu_time{0};      ///< Of one job; measured only for tasks with a budget.
};

/// A number with one writer and any number of readers. Wait-free.
template <typename Value>
class Counter {
 public:
  /// Adds `value`. By the writer only.
  void add(Value value) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }

  /// Keeps the larger of the present and the given value. By the writer only.
  void raise_to(Value value) noexcept {
    if (value > value_.load(std::memory_order_relaxed)) {
      value_.store(value, std::memory_order_relaxed);
    }
  }

  /// Sets the value to zero. By the writer only.
  void clear() noexcept { value_.store({}, std::memory_order_relaxed); }

  /// The present value. From any thread.
  [[nodiscard]] Value get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Value> value_{};
};

/// The counters behind TaskStatistics, where the same names are described.
struct TaskCounters {
  Counter<std::uint64_t> releases;              ///< See TaskStatistics.
  Counter<std::uint64_t> completed;             ///< See TaskStatistics.
  Counter<std::uint64_t> skipped;               ///< See TaskStatistics.
  std::atomic<std::uint64_t> lost_arrivals{0};  ///< The only counter with several writers.
  Counter<std::uint64_t> early_releases;        ///< See TaskStatistics.
  Counter<std::uint64_t> deadline_misses;       ///< See TaskStatistics.
  Counter<std::uint64_t> budget_overruns;       ///< See TaskStatistics.
  Counter<std::uint64_t> age_violations;        ///< See TaskStatistics.
  Counter<std::uint64_t> delivered;             ///< See TaskStatistics.
  Counter<std::int64_t> worst_response;         ///< Nanoseconds.
  Counter<std::int64_t> worst_lateness;         ///< Nanoseconds.
  Counter<std::int64_t> worst_age;              ///< Nanoseconds.
  Counter<std::int64_t> worst_cpu_time;         ///< Nanoseconds.

  /// Sets all counters to zero. While no other thread writes.
  void clear() noexcept {
    for (auto* const counter : {&releases, &completed, &skipped, &early_releases, &deadline_misses,
                                &budget_overruns, &age_violations, &delivered}) {
      counter->clear();
    }
    for (auto* const worst : {&worst_response, &worst_lateness, &worst_age, &worst_cpu_time}) {
      worst->clear();
    }
    lost_arrivals.store(0, std::memory_order_relaxed);
  }

  /// Reads all counters, one after the other. From any thread; wait-free.
  [[nodiscard]] TaskStatistics snapshot() const noexcept {
    return {.releases = releases.get(),
            .completed = completed.get(),
            .skipped = skipped.get(),
            .lost_arrivals = lost_arrivals.load(std::memory_order_relaxed),
            .early_releases = early_releases.get(),
            .deadline_misses = deadline_misses.get(),
            .budget_overruns = budget_overruns.get(),
            .age_violations = age_violations.get(),
            .delivered = delivered.get(),
            .worst_response = nanoseconds{worst_response.get()},
            .worst_lateness = nanoseconds{worst_lateness.get()},
            .worst_age = nanoseconds{worst_age.get()},
            .worst_cpu_time = nanoseconds{worst_cpu_time.get()}};
  }
};

}  // namespace takt::executor
