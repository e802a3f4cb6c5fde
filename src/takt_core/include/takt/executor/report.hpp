// SPDX-License-Identifier: Apache-2.0
//
// What is told of an executor and its tasks once in a while, for whoever watches it: a status of
// the executor, and one of each task. How it is sent is the front end's.
//
//   Reporter reporter;
//   const Reports reports{1s, [&] { send(reporter.report(snapshot(executor, tasks))); }};
//
//   executor   tasks, scenario, lost_trace_events, shortfall (one for each setting not obtained)
//   task       releases, completed, skipped, lost_arrivals, early_releases, deadline_misses,
//              budget_overruns, age_violations, delivered, worst_response_us, worst_lateness_us,
//              worst_age_us, worst_cpu_time_us (of tasks with a budget)
//
// Counts are since the start, times the worst since the start. The level is about the time since
// the report before: error where a deadline was missed or data was too old, warn where releases
// were skipped, messages lost or a budget overrun, else ok. The executor is at warn as long as it
// lacks real-time settings or trace events.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "takt/executor/counters.hpp"
#include "takt/executor/executor.hpp"
#include "takt/os/stop.hpp"
#include "takt/os/thread.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

struct NamedTask {
  TaskIndex index = 0;
  std::string name;
};

// At one moment. Costs a copy, so that it can be had where others wait.
struct Snapshot {
  struct Task {
    std::string name;
    TaskStatistics statistics;
  };
  std::vector<Task> tasks;
  std::string scenario;
  std::uint64_t lost_trace_events = 0;
  os::Shortfalls shortfalls;
};

// `tasks`: those to tell of. Not while the executor starts.
[[nodiscard]] TAKT_CORE_PUBLIC Snapshot snapshot(const Executor& executor,
                                                 std::vector<NamedTask> tasks);

enum class StatusLevel : std::uint8_t { ok, warn, error };

struct Status {
  StatusLevel level = StatusLevel::ok;
  std::string name;  // "executor", or the task's
  std::string message;
  std::vector<std::pair<std::string, std::string>> values = {};
};

class TAKT_CORE_PUBLIC Reporter {
 public:
  // The executor first, then the tasks in their order. From one thread at a time.
  [[nodiscard]] std::vector<Status> report(const Snapshot& now);

 private:
  std::map<std::string, TaskStatistics> former_;  // in the last report
};

// Calls `tell` at once, every `period`, and once more at the end, on a thread without real-time
// priority.
class TAKT_CORE_PUBLIC Reports {
 public:
  // Throws std::invalid_argument for a period that is not above zero; std::system_error for no
  // thread. `tell` must not throw.
  Reports(nanoseconds period, std::function<void()> tell);
  ~Reports();
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;
  Reports(Reports&&) = delete;
  Reports& operator=(Reports&&) = delete;

 private:
  os::StopFlag stop_;
  os::Thread thread_;
};

}  // namespace takt::executor
