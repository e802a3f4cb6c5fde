// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs tasks as their policy demands, with preemption by the kernel. The executor knows no
/// middleware: a task is a description with a callback or a front end's source of jobs
/// (job_source.hpp), and a ReleaseHandle announces messages and sets timers.
///
/// ```cpp
/// Executor executor{{.policy = edf(), .cpus = {1}}};
/// executor.add({.name = "guard.brake", .parameters = {.period = 20ms}}, {.callback = brake});
/// executor.spin();
/// ```
///
/// Each task is assigned to one core; on each core a crew of threads runs the tasks
/// (src/executor/crew.hpp). A task that waits in its callback has a crew of its own.
///
/// Releases are absolute: start + offset + k * period. After start() the threads that run tasks
/// neither allocate nor fault nor throw. Without the privilege for real-time priorities everything
/// still runs, in the right order within each thread and with exclusive groups, and
/// Options::on_not_granted reports what is missing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "takt/executor/changes.hpp"
#include "takt/executor/counters.hpp"
#include "takt/executor/options.hpp"
#include "takt/executor/release_handle.hpp"
#include "takt/os/event.hpp"
#include "takt/sched/compiled_application.hpp"
#include "takt/sched/strategy.hpp"
#include "takt/trace/recorder.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

/// Schedules and runs tasks on real-time threads. All functions may be called from any thread
/// unless they say otherwise.
class TAKT_CORE_PUBLIC Executor {
 public:
  /// Checks the options that need no tasks; starts nothing.
  /// @throws sched::ScheduleError if the policy is null or the base priority is outside of 1..98.
  explicit Executor(Options options);

  /// Stops, and waits for running jobs. Must not run in a callback of this executor.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  Executor(Executor&&) = delete;
  Executor& operator=(Executor&&) = delete;

  /// Changes the tasks: all changes take effect, or none does. May be called at any time, from any
  /// thread and callback.
  ///
  /// Before the start, start() checks everything. While the executor spins, apply() first checks
  /// the whole task set; if it is refused, nothing changes. The other tasks run on undisturbed. The
  /// caller pays for the check and, if more threads are needed, for their creation; apply() waits
  /// for no job. The index of a removed task is reused, at the earliest a while after its removal.
  /// @throws sched::ScheduleError if the task set is refused.
  /// @throws std::system_error if a thread cannot be created.
  /// @throws std::length_error if queues would hold more than a million messages.
  /// @throws any exception that JobSource::arm() throws.
  Applied apply(Changes changes);

  /// Adds one task; see apply() for effect, cost and exceptions.
  AddedTask add(const sched::Task& task, Binding binding);

  /// Removes the task of that name; see apply().
  Change remove(std::string_view name);

  /// Stops the releases of one task; see Changes::pause() and apply().
  Change pause(std::string_view name);

  /// Lets a paused task run again; see Changes::resume() and apply().
  Change resume(std::string_view name);

  /// Declares a topic that is not written by this executor's tasks, in addition to
  /// Options::external_topics; affects tasks that are added later. Repeating it has no effect.
  void declare_external_topic(const std::string& topic);

  /// Sets the scenarios to switch between.
  ///
  /// While the executor is started, the scenarios with their policies and the topics of the tasks
  /// are fixed: only the parameters that scenarios give to tasks may change, from the next
  /// scheduling decision on, as with apply(). Before the start every change is allowed, unless
  /// another thread calls switch_to() at the same time.
  /// @throws std::logic_error if the executor is started and more than that would change.
  /// @throws sched::ScheduleError if the strategy is refused; then nothing changes.
  Change set_scheduling_strategy(sched::SchedulingStrategy strategy);

  /// Replaces Options::handlers.
  /// @throws std::logic_error after the start.
  void set_handlers(Handlers handlers);

  /// Sets the limits to watch while the executor runs, in place of former ones; see
  /// takt/executor/monitor.hpp. All memory for it is allocated here.
  /// @throws sched::ScheduleError for limits that contradict each other.
  /// @throws std::logic_error after the start.
  void set_limits(const Limits& limits);

  /// What was seen of each limit so far: of callbacks in the order of their names, then of chains.
  [[nodiscard]] std::vector<LimitStatistics> limits() const;

  /// Checks all tasks, starts the threads, and releases the first jobs shortly afterwards
  /// (start_time()). After a stop it starts again with the present tasks: their releases begin
  /// anew, their counters continue.
  /// @throws sched::ScheduleError if the task set is refused, or a limit is of no task.
  /// @throws std::system_error if a thread or the trace file cannot be created.
  /// @throws std::logic_error if the executor is started already.
  void start();

  /// Calls start() unless the executor is started, sleeps until a stop is requested or
  /// Options::duration is over, and calls stop(). Throws what these throw.
  void spin();

  /// Requests a stop: running jobs end, pending ones do not start. Safe in callbacks and signal
  /// handlers. Before the start it makes the next start() end at once.
  void request_stop() noexcept;

  /// Requests a stop and waits for the threads, which takes as long as the longest running job.
  /// Closes the trace.
  /// @throws std::logic_error from a callback, or from a function that start() calls.
  /// @throws the exception that left a callback (Exceptions::leave_spin).
  void stop();

  /// Switches to another scenario, on each core at its next scheduling decision: at once, or after
  /// the job that calls this. Released jobs keep the parameters of their release.
  ///
  /// Wait-free but for at most one wake-up for each core; if no thread of a core was about to
  /// decide, that wake-up first raises a thread's priority.
  /// @return false, without any effect, if no scenario has that name.
  bool switch_to(std::string_view scenario) noexcept;

  /// The name of the scenario of the last switch.
  [[nodiscard]] std::string_view scenario() const noexcept;

  /// The index of the task of that name; nothing if there is none.
  [[nodiscard]] std::optional<TaskIndex> find(std::string_view task) const noexcept;

  /// The counters of one task. Wait-free.
  [[nodiscard]] TaskStatistics statistics(TaskIndex task) const noexcept;

  /// All task indices are below this number.
  [[nodiscard]] std::size_t task_count() const noexcept;

  /// The number of a topic in the trace, for events that callbacks record themselves
  /// (trace/current.hpp). From any thread and callback.
  [[nodiscard]] std::uint16_t trace_topic(const std::string& topic) const;

  /// A recorder with which one thread of the caller writes into the executor's trace. Call it after
  /// start(); valid until stop().
  [[nodiscard]] trace::Recorder add_trace_thread() const;

  /// The zero point of all releases; meaningless before start().
  [[nodiscard]] os::TimePoint start_time() const noexcept;

  /// The real-time settings that were not granted, after start().
  [[nodiscard]] os::SettingsNotGranted not_granted() const;

  /// Events that the trace lacks because a thread's ring was full or a write failed.
  [[nodiscard]] std::uint64_t lost_trace_events() const noexcept;

 private:
  class TAKT_CORE_LOCAL Registry;  // descriptions, names, topics
  class TAKT_CORE_LOCAL Staged;    // changes on their way
  class TAKT_CORE_LOCAL Keeper;    // frees what is no longer in use

  [[nodiscard]] std::unique_ptr<sched::CompiledApplication> compile();
  [[nodiscard]] TAKT_CORE_LOCAL std::unique_ptr<sched::CompiledApplication> prepare(
      const Staged& staged);
  void bring_up(const sched::CompiledApplication& compiled);
  void wind_down() noexcept;
  void arm_all();
  void set_off();
  [[nodiscard]] bool is_started() const;
  void prepare_crews(const sched::CompiledApplication& compiled);
  void prepare_task(TaskIndex index, const sched::CompiledApplication& compiled);
  TAKT_CORE_LOCAL void watch(TaskState& state, const sched::Task& task);
  void make_room_for_notes();
  void report_not_granted();
  void open_trace(const sched::CompiledApplication& compiled);
  void name_in_trace(TaskIndex index, const sched::CompiledApplication& compiled);
  void refuse_in_callback(const char* what) const;

  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<Keeper> keeper_;
  os::Event stop_requested_;
};

}  // namespace takt::executor
