// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/ready_queue.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace takt::sched {

ReadyQueue::ReadyQueue(const Policy& policy, std::size_t capacity)
    : policy_(&policy), order_(policy.order()), jobs_(capacity), numbers_(capacity) {
  std::iota(numbers_.begin(), numbers_.end(), 0U);
}

void ReadyQueue::swap_memory(ReadyQueue& larger) noexcept {
  std::ranges::copy(jobs_, larger.jobs_.begin());
  std::ranges::copy(numbers_, larger.numbers_.begin());
  const auto more = larger.numbers_.begin() + static_cast<std::ptrdiff_t>(numbers_.size());
  std::iota(more, larger.numbers_.end(), static_cast<std::uint32_t>(numbers_.size()));
  std::swap(jobs_, larger.jobs_);
  std::swap(numbers_, larger.numbers_);
}

const Job* ReadyQueue::push(const Job& job) noexcept {
  if (size_ == jobs_.size()) {
    return nullptr;
  }
  const std::uint32_t number = numbers_[size_];
  Job& added = jobs_[number];
  added = job;  // only that is compared: `job` need not be anywhere in memory
  const auto pending = std::span{numbers_}.first(size_);
  const auto is_worse = [&](std::uint32_t other) { return runs_before(added, jobs_[other]); };
  const auto place = pending.empty() || !is_worse(pending.front())
                         ? pending.begin()
                         : std::ranges::partition_point(pending, is_worse);
  std::copy_backward(place, pending.end(), pending.end() + 1);
  *place = number;
  ++size_;
#ifndef NDEBUG
  std::array<Job, OrderWatch::most_jobs> best;
  const auto looked_at = std::min(size_, best.size());
  std::ranges::copy(jobs() | std::views::take(looked_at), best.begin());
  watch_.look(*policy_, std::span{best}.first(looked_at));
#endif
  return &added;
}

bool ReadyQueue::remove(TaskIndex task, std::uint64_t index) noexcept {
  return remove_if([&](const Job& job) { return job.task == task && job.index == index; }) > 0;
}

std::size_t ReadyQueue::remove(TaskIndex task) noexcept {
  return remove_if([task](const Job& job) { return job.task == task; });
}

template <class Leaves>
std::size_t ReadyQueue::remove_if(Leaves leaves) noexcept {
  const std::size_t before = size_;
  for (std::size_t i = before; i > 0; --i) {
    if (leaves(jobs_[numbers_[i - 1]])) {
      const auto at = numbers_.begin() + static_cast<std::ptrdiff_t>(i - 1);
      std::rotate(at, at + 1, numbers_.begin() + static_cast<std::ptrdiff_t>(size_));
      --size_;
    }
  }
  return before - size_;
}

void ReadyQueue::set_policy(const Policy& policy) noexcept {
  policy_ = &policy;
  order_ = policy.order();
  // A heap stays within its memory whatever a policy's comparison says.
  const auto pending = std::span{numbers_}.first(size_);
  const auto comes_later = [&](std::uint32_t a, std::uint32_t b) {
    return runs_before(jobs_[b], jobs_[a]);
  };
  std::ranges::make_heap(pending, comes_later);
  std::ranges::sort_heap(pending, comes_later);
}

}  // namespace takt::sched
