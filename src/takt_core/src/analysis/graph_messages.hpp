// SPDX-License-Identifier: Apache-2.0
//
// Messages that wait in a vertex of a schedule graph. They arrive when the core gets free, and
// until their job has ended it is never free again: so the response is what has been computed
// since, and of each message that waits the vertex knows how much that can be; where the policy
// goes by deadlines also how little, as that says when it arrived.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "next_start.hpp"

namespace takt::analysis {

// What a vertex knows: how many jobs of each task have started, and then the waiting of messages.
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

  // The timer whose jobs release those of the task in the end.
  [[nodiscard]] std::size_t root(std::size_t task) const noexcept {
    while (tasks_[task].writer) {
      task = *tasks_[task].writer;
    }
    return task;
  }

  // How long the first message has waited for the task, at most; none: there is none.
  [[nodiscard]] std::optional<nanoseconds> waited(std::span<const std::int64_t> known,
                                                  std::size_t task) const noexcept {
    const std::int64_t time = known[first_[task]];
    return time == nothing ? std::nullopt : std::optional{nanoseconds{time}};
  }

  // Where deadlines count, the same of all tasks; empty: no message waits.
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

  // A job of the task starts and ends. False where one of its messages finds no room.
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

  // What becomes of the messages for `task` when a job of `runs` computes for this time.
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
  bool both_;                       // how long, and how short, they have waited
  std::vector<std::size_t> first_;  // by task
  std::vector<Waited> waits_;
};

}  // namespace takt::analysis
