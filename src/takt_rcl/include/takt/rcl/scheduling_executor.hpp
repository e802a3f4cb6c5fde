// SPDX-License-Identifier: Apache-2.0
//
// SchedulingExecutor: runs the callbacks of timers and subscriptions as a policy says, preempted by
// the kernel, on data that is fresh.
//
//   takt::SchedulingExecutor executor{{.policy = takt::edf(), .cpus = {1}}};
//   executor.add(radar.create_timer(10ms, measure), {.deadline = 5ms, .writes = {scan_out}});
//   executor.add(guard.create_timer(20ms, brake), {.reads = {scan_in}, .max_age = 15ms});
//   executor.spin();
//
// The middleware announces messages, and the task's own thread takes them: cost does not grow with
// the number of timers and subscriptions. Before a timer's callback, the messages that wait at the
// subscriptions which it reads are delivered on its thread, at its priority.
//
// Topics are called by their full names ("/scan"), in scenarios relative to "/" too ("scan").
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <takt/executor/report.hpp>
#include <takt/rcl/node.hpp>
#include <takt/rcl/scheduling.hpp>
#include <takt/rcl/task_options.hpp>
#include <takt/rcl/visibility.hpp>
#include <vector>

namespace takt {

using executor::NamedTask;

// Tasks are added, changed and removed at any time, from any thread and callback.
class TAKT_RCL_PUBLIC SchedulingExecutor {
 public:
  // Throws ScheduleError.
  explicit SchedulingExecutor(ExecutorOptions options = {});
  // Stops, and waits for the callbacks that run.
  ~SchedulingExecutor();
  SchedulingExecutor(const SchedulingExecutor&) = delete;
  SchedulingExecutor& operator=(const SchedulingExecutor&) = delete;
  SchedulingExecutor(SchedulingExecutor&&) = delete;
  SchedulingExecutor& operator=(SchedulingExecutor&&) = delete;

  // Adds a task, before the start or while it spins; keeps the timer or subscription alive. What
  // depends on other tasks is checked by start(), at once while it spins. It takes effect at the
  // next decision of its core. Returns the task's index, by which handlers call it; an index may be
  // used again after the removal. Throws ScheduleError (a timer on sim time, a subscription without
  // a callback, one that is a task already, …), std::logic_error for what another executor has,
  // RclError.
  TaskIndex add(const std::shared_ptr<Timer>& timer, const TaskOptions& options = {});
  TaskIndex add(const std::shared_ptr<SubscriptionBase>& subscription,
                const TaskOptions& options = {});

  // Adds all timers and subscriptions with callbacks that the node has now and that are not added
  // yet, in the order of their creation, timers first, each with these options. Throws as add();
  // std::invalid_argument for options with a name.
  void add_node(const Node& node, const TaskOptions& options = {});

  // Takes a task out. Its callback may run once more, if it runs now; who has to know when it has
  // ended, and the timer or subscription is free again, waits for the change. Throws ScheduleError
  // when there is no such task.
  Change remove(std::string_view task);
  // No releases, whatever scenarios say; from the next decision on, as if it were added.
  Change pause(std::string_view task);
  Change resume(std::string_view task);

  // The scenarios to switch between. After the start only what they say of tasks may be another
  // thing, see takt/executor/executor.hpp. Throws ScheduleError; std::logic_error for more.
  void set_scheduling_strategy(const SchedulingStrategy& strategy);

  // Called on the thread of the task at its priority; must not block or throw. Before the start
  // (std::logic_error).
  void on_deadline_miss(std::function<void(const Miss&)> handler);
  void on_skip(std::function<void(const Skip&)> handler);
  void on_budget_overrun(std::function<void(const BudgetOverrun&)> handler);
  void on_age_violation(std::function<void(const AgeViolation&)> handler);

  // Checks all tasks and starts the threads. Throws ScheduleError, std::system_error;
  // std::logic_error while it is started.
  void start();
  // start(), if need be; returns when all callbacks have ended, after request_stop(), SIGINT or
  // SIGTERM (ExecutorOptions::stop_on_signals).
  void spin();
  // From any thread, callback and signal handler.
  void request_stop() noexcept;
  // request_stop(), and waits. Not from a callback (std::logic_error).
  void stop();

  // Follows another scenario from the next decision on. From any thread and callback. False, and
  // nothing changes, when there is none of that name.
  [[nodiscard]] bool switch_to(std::string_view scenario) noexcept;
  [[nodiscard]] std::string_view scenario() const noexcept;

  // Counters; from any thread. Throws std::out_of_range when there is no such task, or no more.
  [[nodiscard]] TaskStatistics statistics(std::string_view task) const;
  // Those that it has now, by ascending index. From any thread.
  [[nodiscard]] std::vector<NamedTask> tasks() const;
  // From any thread and handler. Throws std::out_of_range. Valid until the task is removed.
  [[nodiscard]] const std::string& task_name(TaskIndex task) const;

  // What the executor below, which knows no ROS, tells: times, shortfalls, the trace.
  [[nodiscard]] const executor::Executor& core() const noexcept;

 private:
  class TAKT_RCL_LOCAL Tasks;
  class TAKT_RCL_LOCAL TaskSource;
  TaskIndex add(const std::shared_ptr<TaskSource>& source, const TaskOptions& options,
                executor::Binding binding);
  void pass_handlers_on();
  template <class Handler>
  void set_handler(Handler executor::Handlers::*which, Handler handler);

  std::unique_ptr<Tasks> tasks_;  // before the executor, whose tasks use it to the end
  std::unique_ptr<executor::Executor> core_;
};

}  // namespace takt
