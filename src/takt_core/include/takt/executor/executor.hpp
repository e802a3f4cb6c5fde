// SPDX-License-Identifier: Apache-2.0
//
// Runs tasks as their policy says, preempted by the kernel. It knows no middleware: a task is a
// description with a callback or a front end's source of jobs (job_source.hpp), and messages and
// timers are announced through ReleaseHandle.
//
//   Executor executor{{.policy = edf(), .cpus = {1}}};
//   executor.add({.name = "guard.brake", .parameters = {.period = 20ms}}, {.callback = brake});
//   executor.spin();
//
// The tasks are spread over the cores once; on each core a crew of threads runs them
// (src/executor/crew.hpp). A task that waits in its callback has a crew of its own.
//
// Releases are absolute: start + offset + k * period. After start() nothing allocates, faults or
// throws in the threads that run the tasks. Without the privilege for real-time priorities
// everything still runs, in the right order within each thread and with exclusive groups, and
// on_shortfalls says what is missing.
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

class TAKT_CORE_PUBLIC Executor {
 public:
  explicit Executor(Options options);
  // Stops, and waits for the jobs that run.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  Executor(Executor&&) = delete;
  Executor& operator=(Executor&&) = delete;

  // Changes the tasks, at any time, from any thread and callback; all of it or nothing. Before the
  // start everything is checked by start(). While the executor spins, the whole task set is checked
  // first, and nothing changes when it is refused; the others run on undisturbed. It costs the
  // caller the check and, where more threads are needed, their creation; nobody is waited for.
  // A task's index is used again when it has gone, and a while later at the earliest. Throws
  // sched::ScheduleError; std::system_error for no thread; std::length_error where a million
  // messages and more may wait; what JobSource::arm() throws.
  Applied apply(Changes changes);

  // Each a change of its own.
  AddedTask add(const sched::Task& task, Binding binding);
  Change remove(std::string_view name);
  Change pause(std::string_view name);
  Change resume(std::string_view name);

  // A topic that others than the executor's tasks write, besides Options::external_topics; for
  // tasks that are added afterwards. The second time does nothing.
  void declare_external_topic(const std::string& topic);

  // The scenarios to switch between. While it is started these are settled, with their policies,
  // and the topics of the tasks: only what scenarios say of tasks may be another thing, from the
  // next scheduling decision on, as with apply(). Before, no other scenarios while another thread
  // calls switch_to(). Throws std::logic_error for more than that; sched::ScheduleError, and
  // nothing has changed.
  Change set_scheduling_strategy(sched::SchedulingStrategy strategy);
  // In place of Options::handlers; before the start. Throws std::logic_error afterwards.
  void set_handlers(Handlers handlers);

  // Checks everything, starts the threads, and releases the first jobs a moment later (start_time).
  // Throws sched::ScheduleError; std::system_error for no thread or no trace; std::logic_error
  // while it is started. After a stop it starts anew: the tasks are those that are there, their
  // releases begin again, their counters go on.
  void start();

  // start(), if need be, and sleeps until a stop is requested; then stop().
  void spin();

  // Jobs that run end, pending ones do not start. From any thread, from callbacks, and from signal
  // handlers. Before the start: the next start() ends at once.
  void request_stop() noexcept;

  // request_stop(), and waits for the threads: as long as the longest job that runs. Closes the
  // trace. Not from a callback, and not from what start() calls (std::logic_error). Throws what
  // left a callback (Exceptions::leave_spin).
  void stop();

  // Follows another scenario from the next scheduling decision on, on each core: at once, or after
  // the job that calls this. Jobs that are released already keep the parameters of their release.
  // From any thread and callback; costs a store and at most one wake-up for each core, of a thread
  // that has to be raised first where nobody was to come before the job there. False, and nothing
  // changes, when there is no such scenario.
  bool switch_to(std::string_view scenario) noexcept;
  [[nodiscard]] std::string_view scenario() const noexcept;  // the last one that was switched to

  [[nodiscard]] std::optional<TaskIndex> find(std::string_view task) const noexcept;
  [[nodiscard]] TaskStatistics statistics(TaskIndex task) const noexcept;
  [[nodiscard]] std::size_t task_count() const noexcept;  // indices are below it

  // The number under which the trace names a topic, for what callbacks record themselves
  // (trace/current.hpp). From any thread and callback.
  [[nodiscard]] std::uint16_t trace_topic(const std::string& topic) const;

  // For a thread of the caller's, after start(): it records into the same trace, until stop().
  [[nodiscard]] trace::Recorder add_trace_thread() const;

  [[nodiscard]] os::TimePoint start_time()
      const noexcept;                               // of releases; meaningless before start()
  [[nodiscard]] os::Shortfalls shortfalls() const;  // after start(); from any thread
  [[nodiscard]] std::uint64_t lost_trace_events() const noexcept;

 private:
  class TAKT_CORE_LOCAL Registry;  // descriptions, names, topics
  class TAKT_CORE_LOCAL Staged;    // changes on their way
  class TAKT_CORE_LOCAL Keeper;    // gives back what nobody uses any more

  [[nodiscard]] std::unique_ptr<sched::CompiledApplication> compile();
  [[nodiscard]] TAKT_CORE_LOCAL std::unique_ptr<sched::CompiledApplication> prepare(
      const Staged& staged);
  void bring_up(const sched::CompiledApplication& compiled);
  void wind_down() noexcept;
  void arm_all();
  [[nodiscard]] bool is_started() const;
  void prepare_crews(const sched::CompiledApplication& compiled);
  void prepare_task(TaskIndex index, const sched::CompiledApplication& compiled);
  void make_room_for_notes();
  void report_shortfalls();
  void open_trace(const sched::CompiledApplication& compiled);
  void name_in_trace(TaskIndex index, const sched::CompiledApplication& compiled);
  void refuse_in_callback(const char* what) const;

  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<Keeper> keeper_;
  os::Event stop_requested_;
};

}  // namespace takt::executor
