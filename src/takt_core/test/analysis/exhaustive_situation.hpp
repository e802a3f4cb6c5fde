// SPDX-License-Identifier: Apache-2.0
//
// All that matters for what can happen next, and what is known of the tasks besides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/exhaustive.hpp"

namespace takt::analysis {

inline constexpr std::size_t most_tasks = 6;
inline constexpr std::size_t most_waiting = 7;
inline constexpr std::size_t most_queues = 5;
inline constexpr std::size_t most_kept = 4;
inline constexpr std::uint8_t most_age = 120;  // of jobs; that of data is not told apart above it
inline constexpr std::uint8_t no_age = 255;
inline constexpr std::size_t nobody_runs = most_tasks;
inline constexpr std::uint8_t finished = 2;

// Bytes only, so that situations compare as they lie in memory.
struct TaskNow {
  std::uint8_t next = 0;     // ticks to the next release by time
  std::uint8_t waiting = 0;  // jobs that are released and have not ended; the first is the current
  std::uint8_t noticed = 0;  // whether the core knows of the current one
  std::uint8_t computed = 0;
  std::uint8_t place = 0;  // among the jobs that have started, from 1; 0: it has not
  std::uint8_t under = 0;  // the scenario in which it was noticed
  std::uint8_t suspended = 0;
  std::uint8_t waited = 0;       // ticks of being suspended
  std::uint8_t waits = 0;        // how often it was, where that is limited
  std::uint8_t extra = 0;        // overheads of the current job, at most
  std::uint8_t published = 0;    // by the current job; finished: it only has to end
  std::uint8_t empty = 0;        // the message for the current job was overwritten
  std::uint8_t sampled = 0;      // age of what the current job works on
  std::uint8_t since = no_age;   // the release of the last job that was noticed
  std::uint8_t origin = no_age;  // the chain's datum that it has: since the release it came from
  std::uint8_t stored = 0;       // whether a message of its last job is in its join
  std::uint8_t stored_sampled = 0;
  std::uint8_t stored_origin = 0;
  std::array<std::uint8_t, most_waiting> ages = {};  // since their releases, the oldest first
};

// Messages for one input, the newest first.
struct Queue {
  std::uint8_t kept = 0;
  std::uint8_t unread = 0;
  std::array<std::uint8_t, most_kept> sampled = {};
  std::array<std::uint8_t, most_kept> origins = {};
};

// The core itself.
struct CoreNow {
  std::uint8_t at = 0;          // ticks since its period began
  std::uint8_t lacks = 0;       // of the budget; of a bounded delay, what is owed
  std::uint8_t interrupt = 0;   // ticks of interrupts that have come and are not done
  std::uint8_t tokens = 0;      // so many more may come
  std::uint8_t next_token = 0;  // ticks until one more
};

struct Situation {
  std::array<TaskNow, most_tasks> tasks = {};
  std::array<Queue, most_queues> queues = {};
  std::uint8_t last = no_age;  // the chain's datum that came to its end before
  std::uint8_t scenario = 0;
  std::uint8_t debt = 0;  // overheads of releases that nobody has paid yet
  std::uint8_t had_core = nobody_runs;
  CoreNow core = {};

  [[nodiscard]] std::string_view bytes() const {
    return {reinterpret_cast<const char*>(this), sizeof(*this)};
  }
  bool operator==(const Situation& other) const { return bytes() == other.bytes(); }
};
static_assert(sizeof(Situation) == most_tasks * (18 + most_waiting) +
                                       most_queues * (2 + 2 * most_kept) + 4 + sizeof(CoreNow));

// The tasks, as a job or a scenario sees them.
class Tasks {
 public:
  Tasks(const Exhaustive& options, const std::vector<ExhaustiveTask>& tasks)
      : options_(options), tasks_(tasks) {}

  [[nodiscard]] const Exhaustive& options() const { return options_; }
  [[nodiscard]] std::size_t size() const { return tasks_.size(); }
  [[nodiscard]] const ExhaustiveTask& operator[](std::size_t task) const { return tasks_[task]; }
  [[nodiscard]] bool is_timer(std::size_t task) const {
    return tasks_[task].trigger.writers.empty();
  }
  [[nodiscard]] bool waits(std::size_t task) const { return tasks_[task].suspension > 0; }
  // Whether the current job may do so once more.
  [[nodiscard]] bool may_wait(const Situation& now, std::size_t task) const {
    return now.tasks[task].waited < tasks_[task].suspension &&
           (tasks_[task].suspensions == 0 || now.tasks[task].waits < tasks_[task].suspensions);
  }
  void suspend(Situation& now, std::size_t task) const {
    now.tasks[task].suspended = 1;
    now.had_core = now.had_core == task ? std::uint8_t{nobody_runs} : now.had_core;
    if (tasks_[task].suspensions > 0) {
      ++now.tasks[task].waits;
    }
  }
  // Of the current job, and of one to be released now.
  [[nodiscard]] const OracleTask& of_job(const Situation& now, std::size_t task) const {
    return in(now.tasks[task].under, task);
  }
  [[nodiscard]] const OracleTask& of_next(const Situation& now, std::size_t task) const {
    return in(now.scenario, task);
  }

 private:
  [[nodiscard]] const OracleTask& in(std::uint8_t scenario, std::size_t task) const {
    const ExhaustiveTask& entry = tasks_[task];
    return scenario != 0 && entry.other ? *entry.other : entry.task;
  }

  const Exhaustive& options_;
  const std::vector<ExhaustiveTask>& tasks_;
};

}  // namespace takt::analysis
