// SPDX-License-Identifier: Apache-2.0
//
// The pending jobs of one core, best first: by the policy's order, then by release, then by task,
// then by index, so the order is total and a run can be repeated. A binary heap in memory that is
// allocated once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "takt/sched/order_check.hpp"
#include "takt/sched/policy.hpp"

namespace takt::sched {

class ReadyQueue {
 public:
  // The policy must outlive the queue, or its replacement by set_policy().
  ReadyQueue(const Policy& policy, std::size_t capacity);

  // False, and nothing changes, when the queue is full. O(log n).
  [[nodiscard]] bool push(const Job& job) noexcept;

  // The best job; valid until the next change. The queue must not be empty.
  [[nodiscard]] const Job& top() const noexcept { return jobs_.front(); }

  // Takes the best job out. The queue must not be empty. O(log n).
  Job pop() noexcept;

  // Takes out one job, or all jobs of a task (a task that was removed). O(n).
  bool remove(TaskIndex task, std::uint64_t index) noexcept;
  std::size_t remove(TaskIndex task) noexcept;

  // Orders the jobs that wait, too, by another policy (a strategy switch). O(n).
  void set_policy(const Policy& policy) noexcept;

  void clear() noexcept { jobs_.clear(); }
  [[nodiscard]] bool empty() const noexcept { return jobs_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return jobs_.size(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] const Policy& policy() const noexcept { return *policy_; }

  // The order of this queue.
  [[nodiscard]] bool runs_before(const Job& a, const Job& b) const noexcept {
    return sched::runs_before(order_, *policy_, a, b);
  }

  // All pending jobs, the best first, the others in no order: what Policy::decide() takes.
  [[nodiscard]] std::span<const Job> jobs() const noexcept { return jobs_; }

 private:
  void sift_up(std::size_t at) noexcept;
  void sift_down(std::size_t at) noexcept;
  void rebuild() noexcept;

  const Policy* policy_;
  Order order_;  // the policy's
  std::size_t capacity_;
  std::vector<Job> jobs_;
  OrderWatch watch_;
};

}  // namespace takt::sched
