// SPDX-License-Identifier: Apache-2.0
/// @file
/// A periodic report about an executor and its tasks for monitoring: one status of the executor,
/// one of each task, and one of each limit (takt/executor/monitor.hpp). The front end decides how
/// to send it.
///
/// ```cpp
/// Reporter reporter;
/// const Reports reports{1s, [&] { send(reporter.report(snapshot(executor, tasks))); }};
/// ```
///
/// The values of the executor: tasks, scenario, lost_trace_events, not_granted (one for each
/// setting not granted). The values of a task: releases, completed, skipped, lost_arrivals,
/// early_releases, deadline_misses, budget_overruns, age_violations, delivered, worst_response_us,
/// worst_lateness_us, worst_age_us, and worst_cpu_time_us for tasks with a budget.
///
/// The values of a limit, "limit: <subject> <quantity>": subject, quantity, topic, limit_us (0: a
/// count, or until the deadline), allowed (share), checked, exceeded, worst_us.
///
/// Counts and worst times are those since the start. The level covers the time since the previous
/// report: error if a deadline was missed or data was too old, warn if releases were skipped,
/// messages lost or a budget overrun, else ok. A limit is at error if more exceeded it than it
/// allows, or if no data arrived at the end of a chain for two reports although its first callback
/// ran; at warn if the excess is allowed. The executor is at warn while it lacks real-time
/// settings or trace events.
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

/// A task to report.
struct NamedTask {
  TaskIndex index = 0;  ///< Its index in the executor.
  std::string name;     ///< The name to report it under.
};

/// The state of an executor at one moment, copied so that the report can be formatted without
/// blocking it.
struct Snapshot {
  /// The state of one task.
  struct Task {
    std::string name;           ///< NamedTask::name.
    TaskStatistics statistics;  ///< Its counters.
  };
  std::vector<Task> tasks;              ///< In the order of the request.
  std::vector<LimitStatistics> limits;  ///< Executor::limits().
  std::string scenario;                 ///< The present scenario.
  std::uint64_t lost_trace_events = 0;  ///< Executor::lost_trace_events().
  os::SettingsNotGranted not_granted;   ///< Real-time settings that were not granted.
};

/// Copies the state of `executor` and of the given tasks. Not while the executor starts.
[[nodiscard]] TAKT_CORE_PUBLIC Snapshot snapshot(const Executor& executor,
                                                 std::vector<NamedTask> tasks);

/// Severity, with the numbers of diagnostic_msgs/DiagnosticStatus.
enum class StatusLevel : std::uint8_t {
  ok,     ///< nothing happened
  warn,   ///< releases, messages or settings are missing, or a budget was exceeded
  error,  ///< a deadline was missed, data was too old, or a limit was exceeded
};

/// One entry of a report.
struct Status {
  StatusLevel level = StatusLevel::ok;  ///< The worst event since the previous report.
  std::string name;                     ///< "executor", the name of the task, "limit: ...".
  std::string message;                  ///< One sentence for people.
  /// Keys and values; see the list above.
  std::vector<std::pair<std::string, std::string>> values = {};
};

/// Makes reports from snapshots, and remembers the previous one to judge what is new.
class TAKT_CORE_PUBLIC Reporter {
 public:
  /// A status of the executor, then of the tasks and the limits in their order. From one thread at
  /// a time.
  [[nodiscard]] std::vector<Status> report(const Snapshot& now);

 private:
  struct Seen {
    LimitStatistics statistics;
    bool without_arrival = false;  // although its chain began
  };

  std::map<std::string, TaskStatistics> former_;  // in the last report
  std::map<std::string, Seen> former_limits_;     // likewise
};

/// Calls a function at once, once in each period, and a last time at the end, on a thread without
/// real-time priority.
class TAKT_CORE_PUBLIC Reports {
 public:
  /// Starts the thread.
  /// @param period above zero.
  /// @param publish called on that thread; must not throw.
  /// @throws std::invalid_argument if the period is not above zero.
  /// @throws std::system_error if the thread cannot be created.
  Reports(nanoseconds period, std::function<void()> publish);

  /// Calls the function a last time and joins the thread.
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
