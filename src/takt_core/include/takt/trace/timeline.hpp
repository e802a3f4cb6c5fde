// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which job had which core at which time, and the outcome of each job, derived from the events of
/// a trace.
///
/// Threads do not notice their preemption by the kernel. On one core, a job that starts while
/// another one runs has preempted it, and the other one resumes when it ends; a boosted job moves
/// up among the started ones. Preempt and resume events, which the simulator writes, are used as
/// they are.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "takt/sched/policy.hpp"
#include "takt/trace/event.hpp"
#include "takt/trace/reader.hpp"
#include "takt/visibility.hpp"

namespace takt::trace {

/// A time or a number that the trace does not contain.
inline constexpr std::int64_t not_recorded = std::numeric_limits<std::int64_t>::min();

/// to - from in nanoseconds. In a damaged trace the difference may exceed the range: then it wraps
/// around.
constexpr std::int64_t elapsed(std::int64_t from, std::int64_t to) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) -
                                   static_cast<std::uint64_t>(from));
}

/// One release of a task and its outcome. Times are nanoseconds; not_recorded if unknown.
struct Job {
  std::uint64_t serial = 0;              ///< Counts the jobs in the order of their first events.
  std::uint64_t job = 0;                 ///< Index of the release within its task.
  std::int64_t release = not_recorded;   ///< Intended release.
  std::int64_t start = not_recorded;     ///< First time on a core.
  std::int64_t end = not_recorded;       ///< End of the job.
  std::int64_t deadline = not_recorded;  ///< Absolute; also not_recorded if it has none.
  std::int64_t priority = not_recorded;  ///< At its start.
  std::int64_t cpu_time = not_recorded;  ///< Also not_recorded if it is not measured.
  std::int64_t running = 0;              ///< How long it had a core.
  /// How long its thread was runnable without running between its previous job and this one. Only
  /// if the trace contains waits (attribute waits_from_ns).
  std::int64_t waited_before = 0;
  std::int64_t waited = 0;        ///< The same during this job.
  std::uint32_t preemptions = 0;  ///< How often it was preempted.
  std::uint16_t task = no_task;   ///< Index of its task.
  std::uint16_t core = no_core;   ///< Where it started.
  std::uint8_t sleeps = 0;        ///< How often it slept.
  bool missed = false;            ///< Ended after its deadline.
  /// The policy that its core followed at its release decides by deadlines; otherwise by
  /// priorities.
  bool by_deadline = false;
};

/// A time interval, not empty, in which one job had the core.
struct Slice {
  std::uint64_t serial = 0;      ///< Job::serial.
  std::uint64_t job = 0;         ///< Index of the release.
  std::int64_t begin = 0;        ///< Nanoseconds.
  std::int64_t end = 0;          ///< Nanoseconds, exclusive.
  std::int64_t started = 0;      ///< Start of the job.
  std::uint16_t task = no_task;  ///< Index of the task.
  std::uint16_t core = no_core;  ///< Number of the CPU.
};

/// The order by which the policies of a trace decide. A policy that this version does not know (a
/// comparator of the user) is assumed to decide by the priorities in the trace.
class TAKT_CORE_PUBLIC Orders {
 public:
  /// Reads the policies of all scenarios from the attributes of a trace.
  explicit Orders(const About& about);

  /// Whether the core presently decides by deadlines.
  [[nodiscard]] bool by_deadline(std::uint16_t core) const;

  /// Whether a task may have several jobs at once, on other cores or, with `anywhere`, on any: the
  /// reentrant ones of rclcpp's MultiThreadedExecutor, which may be a part of a robot.
  [[nodiscard]] bool several_at_once(bool anywhere) const noexcept {
    return anywhere ? threads_ : threads_ || robot_;
  }

  /// Processes an event of type EventType::scenario.
  void take(const Event& scenario);

 private:
  std::map<std::int64_t, sched::Order> scenarios_;
  std::map<std::uint16_t, sched::Order> cores_;
  sched::Order first_ = sched::Order::priority;
  bool threads_ = false;
  bool robot_ = false;
};

/// Derives slices and jobs from events in the order of time. Not thread-safe.
class TAKT_CORE_PUBLIC Timeline {
 public:
  /// Starts with the policies of the trace.
  explicit Timeline(const About& about = {}) : orders_{about} {}

  /// Processes the next event.
  void take(const Event& event);

  /// Ends the trace: open jobs have no end, but a slice up to the last event.
  void close();

  /// In the order in which they become known. The reader of the vector should empty it now and
  /// then.
  std::vector<Slice> slices;
  /// Jobs without further events, in the order in which they become known; to be emptied likewise.
  std::vector<Job> jobs;

  /// All jobs that are not in `jobs` yet.
  [[nodiscard]] std::vector<Job> unfinished() const;

  /// All slices that began before this time are in `slices`.
  [[nodiscard]] std::int64_t settled() const;

  /// Jobs that ended while a job that had started later on their core was still running. With
  /// priorities this happens only if a callback sleeps; without them (no privilege) the threads
  /// share the core by time slices, which no event shows. Slices of such jobs are a guess.
  [[nodiscard]] std::uint64_t not_nested() const noexcept { return not_nested_; }

 private:
  struct Open {
    std::shared_ptr<Job> job;
    std::int64_t since = 0;  // when its present stretch began; not_recorded: it is preempted
  };
  using Stack = std::vector<Open>;  // the last started on top
  using Key = std::pair<std::uint16_t, std::uint64_t>;

  std::shared_ptr<Job> job_of(const Event& event);
  void start(const Event& event);
  void end(const Event& event);
  void boost(const Event& event);
  bool leave(std::uint16_t core, const Job& job, std::int64_t time);
  void drop_lost(const Event& start);
  void pause(Open& open, std::uint16_t core, std::int64_t time);
  void slice(const Open& open, std::uint16_t core, std::int64_t time);
  Open* found(const Event& event);

  Orders orders_;
  std::map<std::uint16_t, Stack> cores_;
  std::map<Key, std::shared_ptr<Job>> jobs_;             // released or started
  std::map<std::uint16_t, std::shared_ptr<Job>> ended_;  // by task: events may follow the end
  std::uint64_t serial_ = 0;
  std::uint64_t not_nested_ = 0;
  std::int64_t last_ = 0;
};

/// The timeline of a trace in memory; slices are sorted by begin.
TAKT_CORE_PUBLIC Timeline timeline(const std::vector<Event>& events);

}  // namespace takt::trace
