// SPDX-License-Identifier: Apache-2.0
//
// One job of a task with limits: which data it has, and whether it exceeds them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

#include "task_state.hpp"
#include "watched.hpp"

namespace takt::executor {

// On the thread that runs the job. Nothing here allocates or waits.
class WatchedJob {
 public:
  WatchedJob(TaskState& task, const Job& job) noexcept;
  ~WatchedJob();
  WatchedJob(const WatchedJob&) = delete;
  WatchedJob& operator=(const WatchedJob&) = delete;
  WatchedJob(WatchedJob&&) = delete;
  WatchedJob& operator=(WatchedJob&&) = delete;

  // It uses data of this topic with this sample time.
  void use(const Topic& topic, std::int64_t sampled) noexcept;
  // It uses a message with this key.
  void use_message(std::int64_t key) noexcept;
  // Its callback begins: from here on use_trigger() tells of the data that released it.
  void begins_callback() noexcept { in_callback_ = true; }
  [[nodiscard]] bool takes_trigger() const noexcept {
    return in_callback_ && task_.trigger != nullptr;
  }
  // What it publishes from here on has this key.
  void publishes(std::int64_t key) noexcept;
  // What it reads, by limit, and when it starts to use that.
  void starts(os::TimePoint time) noexcept { started_ = time; }
  void reads(std::size_t which, std::int64_t sampled) noexcept { sampled_[which] = sampled; }
  [[nodiscard]] const std::deque<Watched::OfRead>& limits_of_reads() const noexcept {
    return watched_.reads;
  }
  // Judges everything and calls the handler.
  void ended(os::TimePoint time, const Handlers& handlers) noexcept;

  // Of the calling thread; null outside of jobs that are watched.
  static WatchedJob* current() noexcept;
  [[nodiscard]] const TaskState& task() const noexcept { return task_; }

 private:
  struct Found {
    Limit* limit = nullptr;
    std::string_view subject;
    std::string_view topic = {};
    std::chrono::nanoseconds most{0};
    std::chrono::nanoseconds value{0};
    os::TimePoint from{};
  };
  void judge(const Found& found, os::TimePoint time, const Handlers& handlers) noexcept;
  void report(const Found& found, os::TimePoint time, const Handlers& handlers) noexcept;
  void count_losses(os::TimePoint time, const Handlers& handlers) noexcept;
  void arrive(const Watched::Place& place, std::int64_t origin, os::TimePoint time,
              const Handlers& handlers) noexcept;

  TaskState& task_;
  Watched& watched_;
  const Job& job_;
  WatchedJob* const outer_;
  Origins origins_;
  Origins sampled_;  // of what it reads, by limit
  os::TimePoint started_{};
  bool in_callback_ = false;
};

}  // namespace takt::executor
