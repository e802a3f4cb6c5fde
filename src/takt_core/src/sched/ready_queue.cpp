// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/ready_queue.hpp"

#include <utility>

namespace takt::sched {

ReadyQueue::ReadyQueue(const Policy& policy, std::size_t capacity)
    : policy_(&policy), order_(policy.order()), capacity_(capacity) {
  jobs_.reserve(capacity);
}

bool ReadyQueue::push(const Job& job) noexcept {
  if (jobs_.size() == capacity_) {
    return false;
  }
  jobs_.push_back(job);  // within the reserved capacity: does not allocate
  sift_up(jobs_.size() - 1);
#ifndef NDEBUG
  watch_.look(*policy_, jobs_);
#endif
  return true;
}

Job ReadyQueue::pop() noexcept {
  const Job best = jobs_.front();
  jobs_.front() = jobs_.back();
  jobs_.pop_back();
  if (!jobs_.empty()) {
    sift_down(0);
  }
  return best;
}

bool ReadyQueue::remove(TaskIndex task, std::uint64_t index) noexcept {
  const std::size_t size = jobs_.size();
  std::erase_if(jobs_, [&](const Job& job) { return job.task == task && job.index == index; });
  rebuild();
  return jobs_.size() < size;
}

std::size_t ReadyQueue::remove(TaskIndex task) noexcept {
  const std::size_t removed =
      std::erase_if(jobs_, [task](const Job& job) { return job.task == task; });
  rebuild();
  return removed;
}

void ReadyQueue::set_policy(const Policy& policy) noexcept {
  policy_ = &policy;
  order_ = policy.order();
  rebuild();
}

// Moves a job towards the best until its parent comes before it.
void ReadyQueue::sift_up(std::size_t at) noexcept {
  const Job job = jobs_[at];
  while (at > 0) {
    const std::size_t parent = (at - 1) / 2;
    if (!runs_before(job, jobs_[parent])) {
      break;
    }
    jobs_[at] = jobs_[parent];
    at = parent;
  }
  jobs_[at] = job;
}

// Moves a job away from the best until it comes before its children.
void ReadyQueue::sift_down(std::size_t at) noexcept {
  const Job job = jobs_[at];
  while (2 * at + 1 < jobs_.size()) {
    std::size_t child = 2 * at + 1;
    if (child + 1 < jobs_.size() && runs_before(jobs_[child + 1], jobs_[child])) {
      ++child;
    }
    if (!runs_before(jobs_[child], job)) {
      break;
    }
    jobs_[at] = jobs_[child];
    at = child;
  }
  jobs_[at] = job;
}

void ReadyQueue::rebuild() noexcept {
  for (std::size_t i = jobs_.size() / 2; i > 0; --i) {
    sift_down(i - 1);
  }
}

}  // namespace takt::sched
