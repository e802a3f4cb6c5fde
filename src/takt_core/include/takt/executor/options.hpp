// SPDX-License-Identifier: Apache-2.0
/// @file
/// The options of an executor: how it schedules, what each task does, and which handlers it calls
/// when something goes wrong.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/executor/input.hpp"
#include "takt/executor/job_source.hpp"
#include "takt/executor/monitor.hpp"
#include "takt/os/not_granted.hpp"
#include "takt/sched/job.hpp"
#include "takt/sched/policies.hpp"

namespace takt::executor {

using sched::Job;
using sched::TaskIndex;

/// The work of a task, called by the thread that runs it.
using Callback = std::function<void(const Job&)>;

/// An input of a task, with its topic.
struct BoundInput {
  std::string topic;             ///< Must be among Task::reads.
  std::shared_ptr<Input> input;  ///< Its pending messages are delivered before the callback.
};

/// What a task does, apart from its description: a callback, or a front end's source of jobs.
struct Binding {
  Callback callback = {};               ///< Empty if `source` is set.
  std::vector<BoundInput> inputs = {};  ///< Delivered before the callback, in this order.
  std::size_t queue = 16;               ///< Message tasks: arrivals that may wait; above 0.
  /// Timers: the kernel schedules the task with SCHED_DEADLINE, outside of the policy and bound to
  /// no core. Needs an execution time (budget or expected_execution) and no exclusive group.
  bool kernel_deadline = false;
  std::shared_ptr<JobSource> source = {};  ///< In place of `callback`.
  /// Timers: the first release, in place of start + offset. TimePoint::max(): none before
  /// ReleaseHandle::release_at().
  std::optional<sched::TimePoint> first_release = {};
  /// Of a task with a thread of its own (Task::waits, kernel_deadline): whether all of the thread's
  /// stack is made resident. Otherwise it takes as much memory as its callback has used.
  bool resident_stack = true;
};

/// A deadline miss.
struct Miss {
  TaskIndex task = 0;         ///< The task that missed.
  std::uint64_t job = 0;      ///< Index of its release, from 0.
  sched::TimePoint release;   ///< Intended release.
  sched::TimePoint deadline;  ///< Absolute.
  sched::TimePoint ended;     ///< End of the job; the present time if it is running.
  bool running = false;       ///< The job is still running: the miss is reported at the deadline.
};

/// Consecutive releases that the overrun policy dropped.
struct Skip {
  TaskIndex task = 0;       ///< The task that overran.
  std::uint64_t first = 0;  ///< Index of the first dropped release.
  std::uint64_t count = 0;  ///< Number of dropped releases.
};

/// A job that used more CPU time than its budget.
struct BudgetOverrun {
  TaskIndex task = 0;                  ///< The task that overran.
  std::uint64_t job = 0;               ///< Index of its release, from 0.
  std::chrono::nanoseconds budget{0};  ///< TaskParameters::budget.
  std::chrono::nanoseconds used{0};    ///< CPU time so far.
  bool running = false;                ///< The job is still running.
};

/// A job that started on data older than its reader allows.
struct AgeViolation {
  TaskIndex task = 0;                   ///< The reader.
  std::uint64_t job = 0;                ///< Index of its release, from 0.
  std::string_view topic;               ///< The topic that was read; valid during the call.
  std::chrono::nanoseconds max_age{0};  ///< Read::max_age.
  /// Age of the data at the start; nanoseconds::max(): no data yet.
  std::chrono::nanoseconds age{0};
};

/// A job that missed its deadline because another job of its core slept: it would have met it if
/// the other job had only computed. Time that a hypervisor stole from a job counts as its sleep.
struct HoldUp {
  TaskIndex task = 0;                 ///< The task that missed.
  std::uint64_t job = 0;              ///< Index of its release, from 0.
  TaskIndex by = 0;                   ///< The task whose job slept; that job has ended.
  std::chrono::nanoseconds slept{0};  ///< A lower bound, which may lack some milliseconds.
};

/// Functions that report events of tasks.
///
/// They are called on the task's thread, at its priority, right after the callback (age_violation:
/// right before it). They belong to the task's execution time and must neither block nor throw.
///
/// Misses and overruns of a job that is still running are reported by another thread, above the
/// job, which goes on meanwhile and is not reported again at its end. No thread runs above a job of
/// priority 98 or one under SCHED_DEADLINE: these are reported at their end. Setting deadline_miss
/// or budget_overrun costs one wake-up wherever no other one is due before the deadline.
struct Handlers {
  /// A job missed its deadline.
  std::function<void(const Miss&)> deadline_miss = {};

  /// The overrun policy dropped releases.
  std::function<void(const Skip&)> skip = {};

  /// A job exceeded its CPU time budget.
  std::function<void(const BudgetOverrun&)> budget_overrun = {};

  /// A job is about to start on data that is too old.
  std::function<void(const AgeViolation&)> age_violation = {};

  /// A sleeping job caused a miss; called after deadline_miss. Not for tasks with a thread of their
  /// own, and not on kernels that do not record how long a thread waited for its core
  /// (os::run_delay).
  std::function<void(const HoldUp&)> held_up = {};

  /// A job that has ended exceeded a limit (Executor::set_limits); called right after the job, once
  /// for each limit. Skipped releases and dropped messages are reported after the next job.
  std::function<void(const LimitExceeded&)> limit_exceeded = {};
};

/// What happens when an exception leaves a callback.
enum class Exceptions : std::uint8_t {
  end_process,  ///< std::terminate() is called
  /// the executor stops, and spin() and stop() throw the exception; later ones are lost
  leave_spin,
};

/// How an executor schedules and reports.
struct Options {
  /// The policy of scenarios that name none, and of executors without a strategy.
  sched::PolicyPtr policy = sched::fixed_priority();
  std::vector<int> cpus = {};  ///< Empty: the first CPU that this process may use.
  /// Topics that are not written by the executor's tasks.
  std::vector<std::string> external_topics = {};
  /// Dynamic policies: jobs run at this real-time priority or above, one level higher for each job
  /// that they preempt.
  int base_priority = 40;
  /// Run at SCHED_FIFO, and without deep idle states while spinning (os::NoDeepIdle). False:
  /// SCHED_OTHER, which is then not reported as not granted.
  bool real_time = true;
  /// Lock the memory of the whole process, so that no page fault occurs in the loop; of other
  /// threads' stacks only what they have used. Only with real_time; not granted if it is not
  /// allowed.
  bool lock_memory = true;
  /// No job is released before, so that executors of several processes begin together. A moment
  /// that has passed by then changes nothing.
  sched::TimePoint not_before = {};
  /// How long it releases jobs, from start_time() on: what is due then or later is no job, however
  /// late the thread is that calls stop(). It ends as by request_stop().
  std::chrono::nanoseconds duration = std::chrono::nanoseconds::max();
  /// spin() ends in order at SIGINT and SIGTERM, unless the program handles them itself.
  bool stop_on_signals = true;
  /// What an exception of a callback leads to.
  Exceptions exceptions = Exceptions::end_process;
  /// Bytes of the stack of each thread that runs callbacks.
  std::size_t stack = std::size_t{2} * 1024 * 1024;
  /// How many bytes of the stack are touched before the start.
  std::size_t prefaulted_stack = std::size_t{64} * 1024;
  /// The trace file to write. Empty: no trace. From the second start on a number is appended to the
  /// name.
  std::filesystem::path trace = {};
  /// Events for each thread that may wait to be written; 32 bytes each.
  std::size_t trace_capacity = 16384;
  /// Record the CPU time of every job and of the executor between two jobs, and how long each job
  /// waited for its core. Costs about two microseconds for each job. Tasks with a budget are
  /// measured in any case.
  bool trace_cpu_time = false;
  /// Keys and values to store in the trace.
  std::vector<std::pair<std::string, std::string>> trace_attributes = {};
  Handlers handlers = {};  ///< Handlers of misses, skips, overruns and old data.

  /// Called with the real-time settings that were not granted: at the start; while spinning if
  /// the kernel refuses a reservation, or a setting of a thread for an added task; and once when
  /// the kernel's real-time throttling takes a core from the tasks. Called from one thread at a
  /// time, which runs no task. The default prints to standard error.
  std::function<void(const os::SettingsNotGranted&)> on_not_granted = {};
};

}  // namespace takt::executor
