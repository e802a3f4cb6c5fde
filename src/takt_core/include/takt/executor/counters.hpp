// SPDX-License-Identifier: Apache-2.0
//
// What the executor counts for each task. Written by the thread that runs the task, readable from
// any thread at any time; the values of one snapshot may be a job apart from each other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace takt::executor {

using std::chrono::nanoseconds;

// A snapshot. Every release ends up in exactly one of completed and skipped; what is in neither is
// pending or running, or was pending at a stop.
struct TaskStatistics {
  std::uint64_t releases = 0;         // noticed so far; dropped ones included
  std::uint64_t completed = 0;        // jobs that have ended
  std::uint64_t skipped = 0;          // releases dropped by the overrun policy
  std::uint64_t lost_arrivals = 0;    // messages for which there was no room
  std::uint64_t early_releases = 0;   // releases moved forward to keep a data age
  std::uint64_t deadline_misses = 0;  // jobs that ended after their deadline
  std::uint64_t budget_overruns = 0;  // jobs that used more CPU time than their budget
  std::uint64_t age_violations = 0;   // jobs that started on data older than they allow
  std::uint64_t delivered = 0;        // messages delivered before the callback
  nanoseconds worst_response{0};      // from intended release to end
  nanoseconds worst_lateness{0};      // from intended release to start
  nanoseconds worst_age{0};           // of data with a maximum age, at the start
  nanoseconds worst_cpu_time{0};      // of one job; only measured for tasks with a budget
};

// One writer at a time.
template <typename Value>
class Counter {
 public:
  void add(Value value) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
  void raise_to(Value value) noexcept {
    if (value > value_.load(std::memory_order_relaxed)) {
      value_.store(value, std::memory_order_relaxed);
    }
  }
  void clear() noexcept { value_.store({}, std::memory_order_relaxed); }
  [[nodiscard]] Value get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Value> value_{};
};

struct TaskCounters {
  Counter<std::uint64_t> releases;
  Counter<std::uint64_t> completed;
  Counter<std::uint64_t> skipped;
  std::atomic<std::uint64_t> lost_arrivals{0};  // the one with several writers
  Counter<std::uint64_t> early_releases;
  Counter<std::uint64_t> deadline_misses;
  Counter<std::uint64_t> budget_overruns;
  Counter<std::uint64_t> age_violations;
  Counter<std::uint64_t> delivered;
  Counter<std::int64_t> worst_response;  // nanoseconds, as those below
  Counter<std::int64_t> worst_lateness;
  Counter<std::int64_t> worst_age;
  Counter<std::int64_t> worst_cpu_time;

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
