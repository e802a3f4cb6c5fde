// SPDX-License-Identifier: Apache-2.0
/// @file
/// A task is a callback with its timing: when it is released, how soon it must end, how important
/// it is, which data it reads and writes. These properties belong to the callback, not to the node.
/// The description is plain data that analysis, simulator and executor read alike.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace takt::sched {

using std::chrono::nanoseconds;

/// Index of a task in its task set, dense from zero; users see the task's name.
using TaskIndex = std::uint32_t;

/// What releases a task.
enum class TaskKind : std::uint8_t {
  timer,    ///< time, once in each period
  message,  ///< every message of its topic
};

/// What happens to a release that comes before the previous job has ended.
enum class Overrun : std::uint8_t {
  skip,       ///< it is dropped and counted (the default: stale work is not made up for)
  queue_one,  ///< one is remembered, further ones are dropped and counted
  catch_up,   ///< all are executed, one after the other
};

/// The longest period, offset, deadline or other time of a task, 100 years: sums of a few such
/// times cannot overflow.
inline constexpr nanoseconds longest_time = std::chrono::hours{24 * 365 * 100};

/// The parameters of a task that a scenario may change while the application runs. All times are
/// 0..longest_time.
struct TaskParameters {
  nanoseconds period{0};    ///< Timer: distance of releases; message: minimum distance.
  nanoseconds offset{0};    ///< First release, counted from the start of the executor.
  nanoseconds deadline{0};  ///< Relative to the release; 0: equal to the period.
  int priority = 0;         ///< 1..98, 98 highest; 0: assigned by the policy (see Policy).
  /// The priority of jobs that a reader needs which limits the age of their data: the reader's, if
  /// it is higher; 0: no such reader. Computed by TaskSet.
  int boosted_priority = 0;
  nanoseconds expected_execution{0};  ///< Declared worst case; 0: unknown.
  nanoseconds budget{0};              ///< CPU time of one job; 0: not watched.
  Overrun overrun = Overrun::skip;    ///< Releases that come too early.
  bool active = true;                 ///< An inactive task has no releases.
};

/// One topic that a task reads.
struct Read {
  std::string topic;       ///< Name of the topic.
  nanoseconds max_age{0};  ///< Oldest data that the task may use; 0: unconstrained.
};

/// The complete description of a task.
struct Task {
  /// Unique in the application; "node.callback" by convention. Appears in traces and reports.
  std::string name;
  TaskKind kind = TaskKind::timer;       ///< What releases it.
  TaskParameters parameters = {};        ///< What scenarios may change.
  std::string trigger = {};              ///< The topic that releases a message task.
  std::vector<Read> reads = {};          ///< Delivered before the callback runs.
  std::vector<std::string> writes = {};  ///< Topics that it publishes.
  std::string group = {};  ///< Exclusive group, at most one job of which runs at a time; "": none.
  int cpu = -1;            ///< The core; -1: chosen by place().
  nanoseconds jitter{0};  ///< The longest time from a release until it is noticed, as far as known.
  /// Its callback sleeps or waits for a device: it has a thread of its own, other jobs run while it
  /// waits, and it continues at its place in the order.
  bool waits = false;
  /// The callback whose lane it is (turns.hpp), by name: place() keeps its lanes apart; "": none.
  std::string lane_of = {};
  /// Of a join (join.hpp): its topics are published when the set is complete.
  bool joined = false;
  /// What its jobs lock while they run, by name: place() keeps all tasks of a lock on one core.
  std::vector<std::string> locks = {};
  /// A timer whose first release comes at a time that is not known, up to a period after the start;
  /// parameters.offset is then not its offset, but 0.
  bool any_offset = false;
  bool paused = false;  ///< No releases, in any scenario.
  bool vacant = false;  ///< Placeholder of a removed task, so that the others keep their indices.
};

/// The highest priority that a job with these parameters can have.
constexpr int highest_priority_of(const TaskParameters& parameters) noexcept {
  return std::max(parameters.priority, parameters.boosted_priority);
}

/// The effective relative deadline: the declared one, or else the period.
constexpr nanoseconds relative_deadline(const TaskParameters& parameters) noexcept {
  return parameters.deadline.count() > 0 ? parameters.deadline : parameters.period;
}

}  // namespace takt::sched
