// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <takt/rcl/scheduling_executor.hpp>
#include <utility>

#include "executor_tasks.hpp"

namespace takt {

using sched::Task;
using sched::TaskKind;

namespace {

// Handlers may ask for the names of tasks.
template <class Event, class Meet>
std::function<void(const Event&)> met(std::function<void(const Event&)> handler, Meet meet) {
  if (!handler) {
    return {};
  }
  return [handler = std::move(handler), meet](const Event& event) {
    meet(event.task);
    handler(event);
  };
}

}  // namespace

SchedulingExecutor::SchedulingExecutor(ExecutorOptions options)
    : tasks_{std::make_unique<Tasks>()} {
  tasks_->handlers = std::exchange(options.handlers, {});
  core_ = std::make_unique<executor::Executor>(std::move(options));
  pass_handlers_on();
}

SchedulingExecutor::~SchedulingExecutor() = default;

// Those that there are: whoever has none pays for none.
void SchedulingExecutor::pass_handlers_on() {
  const executor::Handlers& handlers = tasks_->handlers;
  const auto meet = [tasks = tasks_.get()](TaskIndex task) { tasks->meet(task); };
  core_->set_handlers({.deadline_miss = met(handlers.deadline_miss, meet),
                       .skip = met(handlers.skip, meet),
                       .budget_overrun = met(handlers.budget_overrun, meet),
                       .age_violation = met(handlers.age_violation, meet),
                       .limit_exceeded = met(handlers.limit_exceeded, meet)});
}

TaskIndex SchedulingExecutor::add(const std::shared_ptr<Timer>& timer, const TaskOptions& options) {
  if (timer == nullptr) {
    throw std::invalid_argument{"cannot add a timer that is null"};
  }
  Task task = describe(timer->get_name(), TaskKind::timer, options);
  if (timer->uses_sim_time()) {
    throw ScheduleError(
        "task '" + task.name + "'",
        "its node uses simulated time (use_sim_time), in which no deadline means anything",
        "start the node without use_sim_time; Takt's timers follow CLOCK_MONOTONIC");
  }
  if (options.period.count() != 0 && options.period != timer->get_period()) {
    throw ScheduleError("task '" + task.name + "'",
                        "its options give it another period than its timer has",
                        "create the timer with it, or change it in a scenario; .period is the "
                        "shortest distance of a subscription's messages");
  }
  task.parameters.period = timer->get_period();
  return add(std::make_shared<TaskSource>(*tasks_, std::move(task), options, timer, nullptr),
             options, {});
}

// `binding`: what only subscriptions have.
TaskIndex SchedulingExecutor::add(const std::shared_ptr<TaskSource>& source,
                                  const TaskOptions& options, executor::Binding binding) {
  binding.inputs = inputs_of(options);
  binding.kernel_deadline = options.kernel_deadline;
  return tasks_->add(*core_, source, std::move(binding));
}

TaskIndex SchedulingExecutor::add(const std::shared_ptr<SubscriptionBase>& subscription,
                                  const TaskOptions& options) {
  if (subscription == nullptr) {
    throw std::invalid_argument{"cannot add a subscription that is null"};
  }
  Task task = describe(subscription->get_name(), TaskKind::message, options);
  if (!subscription->has_callback()) {
    throw ScheduleError("task '" + task.name + "'", "its subscription has no callback",
                        "create it with one, or put it among what another task reads");
  }
  if (options.offset.count() != 0) {
    throw ScheduleError("task '" + task.name + "'", "it has an offset, but messages release it",
                        "leave .offset out: it is of a timer's first release");
  }
  task.parameters.overrun = options.overrun.value_or(Overrun::catch_up);
  task.trigger = subscription->get_topic_name();
  executor::Binding binding;
  // Both sources of messages keep `depth` of them.
  binding.queue = std::max<std::size_t>(2 * subscription->get_actual_qos().depth(), 2);
  return add(std::make_shared<TaskSource>(*tasks_, std::move(task), options, nullptr, subscription),
             options, std::move(binding));
}

void SchedulingExecutor::add_node(const Node& node, const TaskOptions& options) {
  if (!options.name.empty()) {
    throw std::invalid_argument{"add_node: the name '" + options.name +
                                "' cannot be given to all callbacks of a node; add them one by one "
                                "to name them"};
  }
  for (const auto& timer : node.get_timers()) {
    if (!tasks_->has(timer.get())) {
      add(timer, options);
    }
  }
  for (const auto& subscription : node.get_subscriptions()) {
    if (subscription->has_callback() && !tasks_->has(subscription.get())) {
      add(subscription, options);
    }
  }
}

executor::Change SchedulingExecutor::remove(std::string_view task) {
  return tasks_->remove(*core_, task);
}

executor::Change SchedulingExecutor::pause(std::string_view task) {
  return core_->pause(task);
}

executor::Change SchedulingExecutor::resume(std::string_view task) {
  return core_->resume(task);
}

void SchedulingExecutor::set_scheduling_strategy(const SchedulingStrategy& strategy) {
  core_->set_scheduling_strategy(with_full_topics(strategy));
}

template <class Handler>
void SchedulingExecutor::set_handler(Handler executor::Handlers::*which, Handler handler) {
  Handler& present = tasks_->handlers.*which;
  std::swap(present, handler);
  try {
    pass_handlers_on();
  } catch (...) {
    std::swap(present, handler);
    throw;
  }
}

void SchedulingExecutor::on_deadline_miss(std::function<void(const Miss&)> handler) {
  set_handler(&executor::Handlers::deadline_miss, std::move(handler));
}

void SchedulingExecutor::on_skip(std::function<void(const Skip&)> handler) {
  set_handler(&executor::Handlers::skip, std::move(handler));
}

void SchedulingExecutor::on_budget_overrun(std::function<void(const BudgetOverrun&)> handler) {
  set_handler(&executor::Handlers::budget_overrun, std::move(handler));
}

void SchedulingExecutor::on_age_violation(std::function<void(const AgeViolation&)> handler) {
  set_handler(&executor::Handlers::age_violation, std::move(handler));
}

void SchedulingExecutor::set_limits(const Limits& limits) {
  Limits full = limits;
  for (executor::ReadLimits& read : full.reads) {
    read.topic = full_topic(read.topic);
  }
  core_->set_limits(full);
}

void SchedulingExecutor::on_limit_exceeded(std::function<void(const LimitExceeded&)> handler) {
  set_handler(&executor::Handlers::limit_exceeded, std::move(handler));
}

std::vector<LimitStatistics> SchedulingExecutor::limits() const {
  return core_->limits();
}

void SchedulingExecutor::start() {
  core_->start();
}

void SchedulingExecutor::spin() {
  core_->spin();
}

void SchedulingExecutor::request_stop() noexcept {
  core_->request_stop();
}

void SchedulingExecutor::stop() {
  core_->stop();
}

bool SchedulingExecutor::switch_to(std::string_view scenario) noexcept {
  return core_->switch_to(scenario);
}

std::string_view SchedulingExecutor::scenario() const noexcept {
  return core_->scenario();
}

TaskStatistics SchedulingExecutor::statistics(std::string_view task) const {
  return core_->statistics(tasks_->index_of(task));
}

std::vector<NamedTask> SchedulingExecutor::tasks() const {
  return tasks_->present();
}

const std::string& SchedulingExecutor::task_name(TaskIndex task) const {
  return tasks_->name_of(task);
}

const executor::Executor& SchedulingExecutor::core() const noexcept {
  return *core_;
}

}  // namespace takt
