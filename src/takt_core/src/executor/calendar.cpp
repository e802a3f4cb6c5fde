// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/calendar.hpp"

#include <algorithm>

namespace takt::executor {

void Calendar::set(TaskIndex task, TimePoint time) noexcept {
  std::size_t at = place_[task];
  if (at == absent) {
    at = heap_.size();
    heap_.push_back({});  // within what was reserved
  }
  settle(at, {.time = time, .task = task});
}

void Calendar::remove(TaskIndex task) noexcept {
  const std::size_t at = place_[task];
  if (at == absent) {
    return;
  }
  place_[task] = absent;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (at < heap_.size()) {
    settle(at, last);
  }
}

// Of the part of the heap below `from`, as deep as its height.
// NOLINTNEXTLINE(misc-no-recursion): the logarithm of the number of tasks
TimePoint Calendar::earliest_after(TimePoint time, std::size_t from) const noexcept {
  if (from >= heap_.size()) {
    return TimePoint::max();
  }
  if (heap_[from].time > time) {
    return heap_[from].time;
  }
  return std::min(earliest_after(time, 2 * from + 1), earliest_after(time, 2 * from + 2));
}

// Puts the entry where it belongs, starting from a free place.
void Calendar::settle(std::size_t at, Entry entry) noexcept {
  const auto put = [this](std::size_t place, const Entry& moved) {
    heap_[place] = moved;
    place_[moved.task] = static_cast<std::uint32_t>(place);
  };
  while (at > 0 && entry < heap_[(at - 1) / 2]) {
    put(at, heap_[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child >= heap_.size()) {
      break;
    }
    if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) {
      ++child;
    }
    if (!(heap_[child] < entry)) {
      break;
    }
    put(at, heap_[child]);
    at = child;
  }
  put(at, entry);
}

}  // namespace takt::executor
