// SPDX-License-Identifier: Apache-2.0
//
// What comes next: tasks by the time of their next release, then by index. A binary heap that knows
// where each task lies, so a time can be changed or taken out; allocated once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/os/clock.hpp"
#include "takt/sched/task.hpp"

namespace takt::executor {

using os::TimePoint;
using sched::TaskIndex;

class Calendar {
 public:
  // Tasks have indices below `tasks`.
  explicit Calendar(std::size_t tasks) : place_(tasks, absent) { heap_.reserve(tasks); }

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  [[nodiscard]] bool contains(TaskIndex task) const noexcept { return place_[task] != absent; }

  // The first task and its time. The calendar must not be empty.
  [[nodiscard]] TaskIndex first() const noexcept { return heap_.front().task; }
  [[nodiscard]] TimePoint first_time() const noexcept { return heap_.front().time; }

  // The time of the first task; the end of time when there is none.
  [[nodiscard]] TimePoint next_time() const noexcept {
    return empty() ? TimePoint::max() : first_time();
  }

  // The earliest time after this one; the end of time when there is none. O(tasks up to `time`).
  [[nodiscard]] TimePoint next_time_after(TimePoint time) const noexcept {
    return earliest_after(time, 0);
  }

  // Puts a task in, or changes its time.
  void set(TaskIndex task, TimePoint time) noexcept;

  // Takes a task out, if it is there.
  void remove(TaskIndex task) noexcept;

 private:
  static constexpr std::uint32_t absent = 0xFFFFFFFF;

  struct Entry {
    TimePoint time;
    TaskIndex task;

    bool operator<(const Entry& other) const noexcept {
      return time != other.time ? time < other.time : task < other.task;
    }
  };

  [[nodiscard]] TimePoint earliest_after(TimePoint time, std::size_t from) const noexcept;
  void settle(std::size_t at, Entry entry) noexcept;

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> place_;  // of each task in heap_
};

}  // namespace takt::executor
