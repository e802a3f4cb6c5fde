// SPDX-License-Identifier: Apache-2.0
//
// Messages that wait in a vertex of a schedule graph. They arrive when the core gets free, and
// until their job has ended it is never free again: so the response is what has been computed
// since, and of each message that waits the vertex knows how much that can be.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "next_start.hpp"

namespace takt::analysis {

// What a vertex knows: how many jobs of each task have started, and then the waiting of messages.
class GraphMessages {
 public:
  explicit GraphMessages(std::span<const PeriodicTask> tasks) : tasks_(tasks), size_(tasks.size()) {
    for (const PeriodicTask& task : tasks) {
      first_.push_back(size_);
      size_ += task.writer ? task.depth : 0;
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

  // A job of the task starts and ends. False where one of its messages finds no room.
  [[nodiscard]] bool run(std::span<std::int64_t> known, std::size_t task) const noexcept {
    ++known[task];
    if (tasks_[task].writer) {
      const auto queue = of(known, task);
      std::shift_left(queue.begin(), queue.end(), 1);
      queue.back() = nothing;
    }
    for (std::int64_t& time : known.subspan(tasks_.size())) {
      time += time == nothing ? 0 : tasks_[task].worst.count();
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].writer != task) {
        continue;
      }
      const auto queue = of(known, i);
      const auto room = std::ranges::find(queue, nothing);
      if (room == queue.end()) {
        return false;
      }
      *room = 0;
    }
    return true;
  }

 private:
  static constexpr std::int64_t nothing = -1;

  [[nodiscard]] std::span<std::int64_t> of(std::span<std::int64_t> known,
                                           std::size_t task) const noexcept {
    return known.subspan(first_[task], tasks_[task].depth);
  }

  std::span<const PeriodicTask> tasks_;
  std::size_t size_;
  std::vector<std::size_t> first_;  // by task
};

}  // namespace takt::analysis
