// SPDX-License-Identifier: Apache-2.0
//
// Messages that wait in a vertex of a schedule graph. They arrive when the core becomes free, and
// the core is not free again until their job has ended: so the response is the work that was
// computed since, for which the vertex has an upper bound for each waiting message; if the policy
// decides by deadlines, it has a lower bound as well, since that limits the time of arrival.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "next_start.hpp"

namespace takt::analysis {

// The knowledge of a vertex: how many jobs of each task have started, and how long messages have
// waited.
class GraphMessages {
 public:
  GraphMessages(sched::Order order, std::span<const PeriodicTask> tasks)
      : tasks_(tasks), size_(tasks.size()), both_(order == sched::Order::deadline) {
    for (const PeriodicTask& task : tasks) {
      first_.push_back(size_);
      size_ += task.writer ? (both_ ? 2 : 1) * task.depth : 0;
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool any() const noexcept { return size_ > tasks_.size(); }
  [[nodiscard]] std::vector<std::int64_t> start() const {
    std::vector<std::int64_t> known(size_, nothing);
    std::fill_n(known.begin(), tasks_.size(), 0);
    return known;
  }

  // The timer at the beginning of the chain that releases the task.
  [[nodiscard]] std::size_t root(std::size_t task) const noexcept {
    while (tasks_[task].writer) {
      task = *tasks_[task].writer;
    }
    return task;
  }

  // The longest that the first message for the task can have waited; none: no message waits.
  [[nodiscard]] std::optional<nanoseconds> waited(std::span<const std::int64_t> known,
                                                  std::size_t task) const noexcept {
    const std::int64_t time = known[first_[task]];
    return time == nothing ? std::nullopt : std::optional{nanoseconds{time}};
  }

  // If deadlines matter, the waiting times of all tasks; empty: no message waits.
  [[nodiscard]] std::span<const Waited> waits(std::span<const std::int64_t> known) {
    waits_.clear();
    bool any = false;
    for (std::size_t i = 0; both_ && this->any() && i < tasks_.size(); ++i) {
      const auto most = tasks_[i].writer ? waited(known, i) : std::nullopt;
      waits_.push_back({.there = most.has_value()});
      if (most) {
        any = true;
        waits_.back().most = *most;
        waits_.back().least = nanoseconds{known[first_[i] + tasks_[i].depth]};
      }
    }
    return any ? std::span<const Waited>{waits_} : std::span<const Waited>{};
  }

  // A job of the task starts and ends. False if one of its messages finds no room.
  [[nodiscard]] bool run(std::span<std::int64_t> known, std::size_t task) const noexcept {
    ++known[task];
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (!tasks_[i].writer) {
        continue;
      }
      if (!run(most_of(known, i), i, task, tasks_[task].worst)) {
        return false;
      }
      if (both_) {
        static_cast<void>(run(least_of(known, i), i, task, tasks_[task].best));
      }
    }
    return true;
  }

 private:
  static constexpr std::int64_t nothing = -1;

  // Updates the messages for `task` when a job of `runs` computes for this time.
  [[nodiscard]] bool run(std::span<std::int64_t> queue, std::size_t task, std::size_t runs,
                         nanoseconds time) const noexcept {
    if (task == runs) {
      std::shift_left(queue.begin(), queue.end(), 1);
      queue.back() = nothing;
    }
    for (std::int64_t& waited : queue) {
      waited += waited == nothing ? 0 : time.count();
    }
    if (tasks_[task].writer != runs) {
      return true;
    }
    const auto room = std::ranges::find(queue, nothing);
    if (room == queue.end()) {
      return false;
    }
    *room = 0;
    return true;
  }
  [[nodiscard]] std::span<std::int64_t> most_of(std::span<std::int64_t> known,
                                                std::size_t task) const noexcept {
    return known.subspan(first_[task], tasks_[task].depth);
  }
  [[nodiscard]] std::span<std::int64_t> least_of(std::span<std::int64_t> known,
                                                 std::size_t task) const noexcept {
    return known.subspan(first_[task] + tasks_[task].depth, tasks_[task].depth);
  }

  std::span<const PeriodicTask> tasks_;
  std::size_t size_;
  bool both_;                       // upper and lower bounds are stored
  std::vector<std::size_t> first_;  // by task
  std::vector<Waited> waits_;
};

}  // namespace takt::analysis
