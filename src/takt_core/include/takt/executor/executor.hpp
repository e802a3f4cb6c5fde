// SPDX-License-Identifier: Apache-2.0
//
// Runs tasks as their policy says, preempted by the kernel. It knows no middleware: a task is a
// callback with a description (Task), and messages announce themselves through ReleaseHandle.
//
//   Executor executor{{.policy = edf(), .cpus = {1}}};
//   executor.add({.name = "guard.brake", .parameters = {.period = 20ms}}, {.callback = brake});
//   executor.spin();
//
// The tasks are spread over the cores once; on each core a back end of its own runs them: Lanes for
// fixed priorities, Stack for dynamic and for non-preemptive policies.
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
#include <vector>

#include "takt/executor/counters.hpp"
#include "takt/executor/options.hpp"
#include "takt/os/event.hpp"
#include "takt/sched/strategy.hpp"
#include "takt/trace/recorder.hpp"

namespace takt::executor {

class Partition;
struct Plan;
struct Shared;
struct TaskState;

// Releases a message task. Valid as long as the executor lives; copies are equal.
class ReleaseHandle {
 public:
  ReleaseHandle() noexcept = default;

  // A message has arrived, now. From any thread, without locks. False when so many wait already
  // that this one is lost (and counted).
  // NOLINTNEXTLINE(modernize-use-nodiscard): the loss is counted, nobody has to look at it
  bool notify() const noexcept;

 private:
  friend class Executor;
  explicit ReleaseHandle(TaskState* task) noexcept : task_(task) {}
  TaskState* task_ = nullptr;
};

struct AddedTask {
  TaskIndex index = 0;
  ReleaseHandle release = {};  // message tasks: for the front end to call
};

class Executor {
 public:
  explicit Executor(Options options);
  // Stops, and waits for the jobs that run.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  Executor(Executor&&) = delete;
  Executor& operator=(Executor&&) = delete;

  // Adds a task; its index counts from 0 and is never used again. Before the start everything is
  // checked by start(). While the executor spins, the whole task set is checked first, and nothing
  // changes when it is refused; the others run on undisturbed. Throws sched::ScheduleError,
  // std::length_error above Options::max_tasks. Not from a callback (std::logic_error).
  AddedTask add(const sched::Task& task, Binding binding);

  // Takes a task out, by its name. Returns when its last job has ended, which it waits for; the
  // callback is destroyed then. Counters stay readable. Throws as add().
  void remove(std::string_view name);

  // A topic that others than the executor's tasks write, besides Options::external_topics; for
  // tasks that are added afterwards. The second time does nothing.
  void declare_external_topic(const std::string& topic);

  // The scenarios to switch between; before the start. Throws std::logic_error afterwards.
  void set_scheduling_strategy(sched::SchedulingStrategy strategy);

  // Checks everything, starts the threads, and releases the first jobs a moment later (start_time).
  // Throws sched::ScheduleError; std::system_error for no thread or no trace; std::logic_error when
  // it was started before.
  void start();

  // start(), if need be, and sleeps until a stop is requested; then stop().
  void spin();

  // Jobs that run end, pending ones do not start. From any thread, from callbacks, and from signal
  // handlers.
  void request_stop() noexcept;

  // request_stop(), and waits for the threads: as long as the longest job that runs. Closes the
  // trace. Not from a callback (std::logic_error).
  void stop();

  // Follows another scenario from the next scheduling decision on, on each core: at once, or after
  // the job that calls this. Jobs that are released already keep the parameters of their release.
  // From any thread and callback; costs a store and at most one wake-up for each core. False, and
  // nothing changes, when there is no such scenario.
  bool switch_to(std::string_view scenario) noexcept;
  [[nodiscard]] std::string_view scenario() const noexcept;  // the last one that was switched to

  [[nodiscard]] std::optional<TaskIndex> find(
      std::string_view task) const noexcept;  // set-up and one thread only
  [[nodiscard]] TaskStatistics statistics(TaskIndex task) const noexcept;
  [[nodiscard]] std::size_t task_count() const noexcept;

  // The number under which the trace names a topic, for what callbacks record themselves
  // (trace/current.hpp). Not from a callback.
  [[nodiscard]] std::uint16_t trace_topic(const std::string& topic) const;

  // For a thread of the caller's, after start(): it records into the same trace, until stop().
  [[nodiscard]] trace::Recorder add_trace_thread() const;

  [[nodiscard]] os::TimePoint start_time()
      const noexcept;                               // of releases; meaningless before start()
  [[nodiscard]] os::Shortfalls shortfalls() const;  // after start(); from any thread
  [[nodiscard]] std::uint64_t lost_trace_events() const noexcept;

 private:
  [[nodiscard]] std::unique_ptr<Plan> compile() const;
  void create_state(TaskIndex index);
  void create_partitions(const Plan& plan);
  void publish(std::unique_ptr<Plan> plan);
  void report_shortfalls();
  void open_trace();
  void refuse_in_callback(const char* what) const;

  class Registry;
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Registry> registry_;
  std::vector<std::unique_ptr<Partition>> partitions_;  // before them, what they use
  std::atomic<bool> live_{false};  // partitions_ is complete and does not change any more
  os::Event stop_requested_;
};

}  // namespace takt::executor
