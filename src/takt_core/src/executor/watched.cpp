// SPDX-License-Identifier: Apache-2.0
#include "watched.hpp"

#include <algorithm>

namespace takt::executor {

void RecentJobs::push(std::int64_t stamp, const Origins& origins) noexcept {
  const std::uint64_t number = pushed_.load(std::memory_order_relaxed);
  const std::size_t slot = number % remembered_jobs;
  stamps_[slot].store(no_origin, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t place = 0; place < places_; ++place) {
    origins_[slot * places_ + place].store(origins[place], std::memory_order_relaxed);
  }
  stamps_[slot].store(stamp, std::memory_order_release);
  pushed_.store(number + 1, std::memory_order_release);
}

std::int64_t RecentJobs::origin(std::int64_t stamp, std::size_t place) const noexcept {
  const std::uint64_t pushed = pushed_.load(std::memory_order_acquire);
  const std::uint64_t oldest = pushed - std::min<std::uint64_t>(pushed, remembered_jobs);
  for (std::uint64_t number = pushed; number > oldest; --number) {
    const std::size_t slot = (number - 1) % remembered_jobs;
    if (stamps_[slot].load(std::memory_order_acquire) != stamp) {
      continue;
    }
    const std::int64_t origin = origins_[slot * places_ + place].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    return stamps_[slot].load(std::memory_order_relaxed) == stamp ? origin : no_origin;
  }
  return no_origin;
}

void WrittenTopics::add(std::uint16_t topic) noexcept {
  const std::size_t count = count_.load(std::memory_order_relaxed);
  if (count < most && !has(topic)) {
    topics_[count].store(topic, std::memory_order_relaxed);
    count_.store(count + 1, std::memory_order_release);
  }
}

bool WrittenTopics::has(std::uint16_t topic) const noexcept {
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (topics_[i].load(std::memory_order_relaxed) == topic) {
      return true;
    }
  }
  return false;
}

}  // namespace takt::executor
