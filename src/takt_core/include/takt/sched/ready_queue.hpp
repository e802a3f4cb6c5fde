// SPDX-License-Identifier: Apache-2.0
//
// The pending jobs of one core, best first: by the policy's order, then by release, then by task,
// then by index, so the order is total and a run can be repeated.
//
// The jobs stay where they are; what is kept in order are their numbers, in memory that is
// allocated once. Releases that coincide come in about the order in which they will run, so a job
// finds its place at the first look, and taking the best one costs nothing: for the dozens of jobs
// that pend at once that is faster than a heap, which moves jobs for each of them.
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

class TAKT_CORE_PUBLIC ReadyQueue {
 public:
  // The policy must outlive the queue, or its replacement by set_policy().
  ReadyQueue(const Policy& policy, std::size_t capacity);

  // Takes the memory of the other one, which is at least as large and empty, for its own. Allocates
  // nothing.
  void swap_memory(ReadyQueue& larger) noexcept;

  // False, and nothing changes, when the queue is full. O(log n) comparisons, and four bytes moved
  // for each job that comes before it.
  [[nodiscard]] bool push(const Job& job) noexcept;

  // The best job; valid until the next push. The queue must not be empty.
  [[nodiscard]] const Job& top() const noexcept { return jobs_[numbers_[size_ - 1]]; }

  // Takes the best job out. The queue must not be empty. O(1).
  const Job& pop() noexcept { return jobs_[numbers_[--size_]]; }

  // Takes out one job, or all jobs of a task (a task that was removed). O(n).
  bool remove(TaskIndex task, std::uint64_t index) noexcept;
  std::size_t remove(TaskIndex task) noexcept;

  // Orders the jobs that wait, too, by another policy (a strategy switch). O(n log n).
  void set_policy(const Policy& policy) noexcept;

  void clear() noexcept { size_ = 0; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return jobs_.size(); }
  [[nodiscard]] const Policy& policy() const noexcept { return *policy_; }

  // The order of this queue.
  [[nodiscard]] bool runs_before(const Job& a, const Job& b) const noexcept {
    return sched::runs_before(order_, *policy_, a, b);
  }

  // All pending jobs, the best first.
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
