// SPDX-License-Identifier: Apache-2.0
/// @file
/// The pending jobs of one core, the most urgent first: by the policy's order, then release, task
/// and index, so the order is total and a run can be repeated.
///
/// Jobs stay where they are; only their numbers are sorted, in memory that is allocated once.
/// Simultaneous releases arrive in about the order in which they will run, so a job usually finds
/// its place at the first comparison, and removing the most urgent job is free. For the dozens of
/// jobs that are pending at once this is faster than a heap, which moves several jobs for each
/// insertion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "takt/sched/order_check.hpp"
#include "takt/sched/policy.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

/// A bounded priority queue. Not thread-safe; only construction allocates.
class TAKT_CORE_PUBLIC ReadyQueue {
 public:
  /// Allocates room for `capacity` jobs. The policy must outlive the queue, or its replacement by
  /// set_policy().
  ReadyQueue(const Policy& policy, std::size_t capacity);

  /// Exchanges memory with another queue, which must be empty and at least as large; keeps the
  /// jobs. Allocates nothing.
  void swap_memory(ReadyQueue& larger) noexcept;

  /// Inserts a job. O(log n) comparisons, and four bytes moved for each more urgent job.
  /// @return the job in the queue, valid until the next push(); null, without any effect, if the
  /// queue is full.
  const Job* push(const Job& job) noexcept;

  /// The most urgent job, valid until the next push(). The queue must not be empty.
  [[nodiscard]] const Job& top() const noexcept { return jobs_[numbers_[size_ - 1]]; }

  /// Removes the most urgent job and returns it, valid until the next push(). The queue must not be
  /// empty. O(1).
  const Job& pop() noexcept { return jobs_[numbers_[--size_]]; }

  /// Removes one job. O(n).
  /// @return whether it was in the queue.
  bool remove(TaskIndex task, std::uint64_t index) noexcept;

  /// Removes all jobs of a task. O(n).
  /// @return how many.
  std::size_t remove(TaskIndex task) noexcept;

  /// Sorts the waiting jobs by another policy from now on. O(n log n).
  void set_policy(const Policy& policy) noexcept;

  /// Removes all jobs.
  void clear() noexcept { size_ = 0; }

  /// Whether no job is waiting.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// Number of waiting jobs.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// The most jobs that can wait.
  [[nodiscard]] std::size_t capacity() const noexcept { return jobs_.size(); }

  /// The policy that sorts the jobs.
  [[nodiscard]] const Policy& policy() const noexcept { return *policy_; }

  /// Whether `a` comes before `b` in this queue.
  [[nodiscard]] bool runs_before(const Job& a, const Job& b) const noexcept {
    return sched::runs_before(order_, *policy_, a, b);
  }

  /// All pending jobs, the most urgent first.
  [[nodiscard]] auto jobs() const noexcept {
    return std::span{numbers_}.first(size_) | std::views::reverse |
           std::views::transform(
               [this](std::uint32_t number) -> const Job& { return jobs_[number]; });
  }

 private:
  template <class Leaves>
  std::size_t remove_if(Leaves leaves) noexcept;

  const Policy* policy_;
  Order order_;  // the policy's
  std::size_t size_ = 0;
  std::vector<Job> jobs_;  // by number; what is not pending is free
  // Those of the pending jobs, the best last, then the free ones.
  std::vector<std::uint32_t> numbers_;
  OrderWatch watch_;  // used in debug builds; there in all: the layout is the same for everybody
};

}  // namespace takt::sched
