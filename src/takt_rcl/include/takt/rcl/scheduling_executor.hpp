// SPDX-License-Identifier: Apache-2.0
/// @file
/// SchedulingExecutor: runs the callbacks of timers and subscriptions under a scheduling policy,
/// with preemption by the kernel and on fresh data.
///
/// ```cpp
/// takt::SchedulingExecutor executor{{.policy = takt::edf(), .cpus = {1}}};
/// executor.add(radar.create_timer(10ms, measure), {.deadline = 5ms, .writes = {scan_out}});
/// executor.add(guard.create_timer(20ms, brake), {.reads = {scan_in}, .max_age = 15ms});
/// executor.spin();
/// ```
///
/// The middleware announces messages, and the task's own thread takes them: the cost does not grow
/// with the number of timers and subscriptions. Before the callback of a timer, waiting messages of
/// the subscriptions that it reads are delivered on its thread, at its priority.
///
/// Topics have their full names ("/scan"); in scenarios names relative to "/" are allowed too
/// ("scan").
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

/// An executor for takt_rcl. Tasks may be added, changed and removed at any time, from any thread
/// and callback.
class TAKT_RCL_PUBLIC SchedulingExecutor {
 public:
  /// Checks the options; starts nothing.
  /// @throws ScheduleError if the policy is null or the base priority is outside of 1..98.
  explicit SchedulingExecutor(ExecutorOptions options = {});

  /// Stops, and waits for running callbacks.
  ~SchedulingExecutor();
  SchedulingExecutor(const SchedulingExecutor&) = delete;
  SchedulingExecutor& operator=(const SchedulingExecutor&) = delete;
  SchedulingExecutor(SchedulingExecutor&&) = delete;
  SchedulingExecutor& operator=(SchedulingExecutor&&) = delete;

  /// Adds a timer as a task, before the start or while spinning, and keeps it alive. Dependencies
  /// on other tasks are checked by start(), or at once while spinning. Takes effect at the next
  /// decision of its core.
  /// @return the index of the task, which handlers report; it may be reused after the task was
  /// removed.
  /// @throws ScheduleError for a task set that is refused, a timer on simulated time, or a timer
  /// that is a task already.
  /// @throws std::logic_error if another executor has the timer.
  TaskIndex add(const std::shared_ptr<Timer>& timer, const TaskOptions& options = {});

  /// Adds a subscription as a task that each message releases; otherwise as for timers.
  /// @throws ScheduleError for a task set that is refused, a subscription without a callback, or
  /// one that is a task already.
  /// @throws std::logic_error if another executor has the subscription.
  /// @throws RclError if the middleware refuses to announce messages.
  TaskIndex add(const std::shared_ptr<SubscriptionBase>& subscription,
                const TaskOptions& options = {});

  /// Adds all present timers and subscriptions with callbacks of the node that are not added yet,
  /// in the order of their creation, timers first, each with these options. Throws as add() does.
  /// @throws std::invalid_argument for options with a name.
  void add_node(const Node& node, const TaskOptions& options = {});

  /// Removes a task. If its callback is running, it ends; wait for the result to know when it has
  /// ended and the timer or subscription is free again.
  /// @throws ScheduleError if there is no such task.
  Change remove(std::string_view task);

  /// Stops the releases of a task from the next decision on, whatever scenarios say.
  /// @throws ScheduleError if there is no such task.
  Change pause(std::string_view task);

  /// Lets a paused task run again, as if it were added now.
  /// @throws ScheduleError if there is no such task.
  Change resume(std::string_view task);

  /// Sets the scenarios to switch between. After the start only the parameters that they give to
  /// tasks may change, see executor::Executor::set_scheduling_strategy().
  /// @throws ScheduleError if the strategy is refused.
  /// @throws std::logic_error if more would change after the start.
  void set_scheduling_strategy(const SchedulingStrategy& strategy);

  /// Sets the handler of deadline misses. It is called on the thread of the task, or above it while
  /// the job is running, and must neither block nor throw; see executor::Handlers.
  /// @throws std::logic_error after the start.
  void on_deadline_miss(std::function<void(const Miss&)> handler);

  /// Sets the handler of dropped releases; as on_deadline_miss().
  /// @throws std::logic_error after the start.
  void on_skip(std::function<void(const Skip&)> handler);

  /// Sets the handler of budget overruns; as on_deadline_miss().
  /// @throws std::logic_error after the start.
  void on_budget_overrun(std::function<void(const BudgetOverrun&)> handler);

  /// Sets the handler of old data, called right before the callback; as on_deadline_miss().
  /// @throws std::logic_error after the start.
  void on_age_violation(std::function<void(const AgeViolation&)> handler);

  /// Sets the limits to watch while it runs; see takt/executor/monitor.hpp. Callbacks are named as
  /// their tasks. Chains follow messages that are passed by pointer, and those that go through the
  /// middleware within this process, if it reports its stamps to ROS 2's tracepoints (rmw_publish).
  /// @throws ScheduleError for limits that contradict each other.
  /// @throws std::logic_error after the start.
  void set_limits(const Limits& limits);

  /// Sets the handler of exceeded limits, called right after the callback; as on_deadline_miss().
  /// @throws std::logic_error after the start.
  void on_limit_exceeded(std::function<void(const LimitExceeded&)> handler);

  /// What was seen of each limit so far. From any thread.
  [[nodiscard]] std::vector<LimitStatistics> limits() const;

  /// Checks all tasks and starts the threads.
  /// @throws ScheduleError if the task set is refused.
  /// @throws std::system_error if a thread or the trace file cannot be created.
  /// @throws std::logic_error if the executor is started already.
  void start();

  /// Calls start() unless the executor is started. Returns when all callbacks have ended after
  /// request_stop(), SIGINT or SIGTERM (ExecutorOptions::stop_on_signals).
  void spin();

  /// Requests a stop. Safe in any thread, callback and signal handler.
  void request_stop() noexcept;

  /// Requests a stop and waits for the threads.
  /// @throws std::logic_error from a callback.
  void stop();

  /// Switches to another scenario from the next decision on. From any thread and callback; see
  /// executor::Executor::switch_to().
  /// @return false, without any effect, if no scenario has that name.
  [[nodiscard]] bool switch_to(std::string_view scenario) noexcept;

  /// The name of the scenario of the last switch.
  [[nodiscard]] std::string_view scenario() const noexcept;

  /// The counters of a task. From any thread.
  /// @throws std::out_of_range if there is no such task.
  [[nodiscard]] TaskStatistics statistics(std::string_view task) const;

  /// The present tasks by ascending index. From any thread.
  [[nodiscard]] std::vector<NamedTask> tasks() const;

  /// The name of a task, valid until it is removed. From any thread and handler.
  /// @throws std::out_of_range if there is no such task.
  [[nodiscard]] const std::string& task_name(TaskIndex task) const;

  /// The underlying executor, which knows no ROS: start time, settings not granted, trace.
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
