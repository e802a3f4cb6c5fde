// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <takt/rcl/sample_time.hpp>
#include <takt/rcl/scheduling_executor.hpp>
#include <utility>

#include "executor_tasks.hpp"

namespace takt {

using sched::Task;
using sched::TaskKind;

SchedulingExecutor::SchedulingExecutor(ExecutorOptions options)
    : tasks_{std::make_unique<Tasks>(options.handlers)} {
  // The executor below takes its handlers now; those that come later are found through these.
  const auto pass_on = [&tasks = *tasks_](auto executor::Handlers::*handler) {
    return [&tasks, handler](const auto& event) {
      if (!(tasks.handlers.*handler)) return;
      tasks.meet(event.task);
      (tasks.handlers.*handler)(event);
    };
  };
  options.handlers = {.deadline_miss = pass_on(&executor::Handlers::deadline_miss),
                      .skip = pass_on(&executor::Handlers::skip),
                      .budget_overrun = pass_on(&executor::Handlers::budget_overrun),
                      .age_violation = pass_on(&executor::Handlers::age_violation)};
  core_ = std::make_unique<executor::Executor>(std::move(options));
}

SchedulingExecutor::~SchedulingExecutor() {
  tasks_->release_subscriptions();  // first: nobody announces to what is about to end
}

TaskIndex SchedulingExecutor::add(const std::shared_ptr<Timer>& timer, const TaskOptions& options) {
  if (timer == nullptr) throw std::invalid_argument{"cannot add a timer that is null"};
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
  executor::Binding binding;
  binding.callback = [timer](const Job& job) {
    const detail::SampleTimeScope scope{job.release};
    timer->execute(job);
  };
  binding.inputs = inputs_of(options);
  binding.kernel_deadline = options.kernel_deadline;
  return tasks_->add(*core_, std::move(task), std::move(binding), options, timer, nullptr);
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
  if (task.parameters.overrun == Overrun::catch_up) {
    binding.callback = [subscription](const Job&) { subscription->deliver_oldest(); };
  } else {
    binding.callback = [subscription](const Job&) { subscription->deliver_newest(); };
  }
  binding.inputs = inputs_of(options);
  // Both sources of messages keep `depth` of them.
  binding.queue = std::max<std::size_t>(2 * subscription->get_actual_qos().depth(), 2);
  binding.kernel_deadline = options.kernel_deadline;
  return tasks_->add(*core_, std::move(task), std::move(binding), options, nullptr, subscription);
}

void SchedulingExecutor::add_node(const Node& node, const TaskOptions& options) {
  if (!options.name.empty()) {
    throw std::invalid_argument{"add_node: the name '" + options.name +
                                "' cannot be given to all callbacks of a node; add them one by one "
                                "to name them"};
  }
  for (const auto& timer : node.get_timers()) {
    if (!tasks_->has(timer.get())) add(timer, options);
  }
  for (const auto& subscription : node.get_subscriptions()) {
    if (subscription->has_callback() && !tasks_->has(subscription.get())) {
      add(subscription, options);
    }
  }
}

void SchedulingExecutor::remove(std::string_view task) {
  tasks_->remove(*core_, task);
}

void SchedulingExecutor::set_scheduling_strategy(const SchedulingStrategy& strategy) {
  core_->set_scheduling_strategy(with_full_topics(strategy));
}

void SchedulingExecutor::on_deadline_miss(std::function<void(const Miss&)> handler) {
  tasks_->refuse_after_start();
  tasks_->handlers.deadline_miss = std::move(handler);
}

void SchedulingExecutor::on_skip(std::function<void(const Skip&)> handler) {
  tasks_->refuse_after_start();
  tasks_->handlers.skip = std::move(handler);
}

void SchedulingExecutor::on_budget_overrun(std::function<void(const BudgetOverrun&)> handler) {
  tasks_->refuse_after_start();
  tasks_->handlers.budget_overrun = std::move(handler);
}

void SchedulingExecutor::on_age_violation(std::function<void(const AgeViolation&)> handler) {
  tasks_->refuse_after_start();
  tasks_->handlers.age_violation = std::move(handler);
}

void SchedulingExecutor::start() {
  core_->start();
  tasks_->started = true;
}

void SchedulingExecutor::spin() {
  if (!tasks_->started) start();
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
