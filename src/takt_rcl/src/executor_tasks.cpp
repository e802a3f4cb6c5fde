// SPDX-License-Identifier: Apache-2.0
#include "executor_tasks.hpp"

#include <algorithm>
#include <ranges>
#include <stdexcept>
#include <utility>

namespace takt {

sched::Task describe(const std::string& default_name, sched::TaskKind kind,
                     const TaskOptions& options) {
  sched::Task task;
  task.name = options.name.empty() ? default_name : options.name;
  task.kind = kind;
  task.parameters = {.period = options.period,
                     .offset = options.offset,
                     .deadline = options.deadline,
                     .priority = options.priority,
                     .expected_execution = options.expected_execution,
                     .budget = options.budget,
                     .overrun = options.overrun.value_or(Overrun::skip),
                     .active = options.active};
  if (options.max_age.count() != 0 && options.reads.empty()) {
    throw ScheduleError("task '" + task.name + "'", "it has a max_age, but reads nothing",
                        "name the subscriptions whose data it uses in .reads");
  }
  for (const ReadFrom& read : options.reads) {
    if (read.subscription == nullptr) {
      throw ScheduleError("task '" + task.name + "'", "it reads a subscription that is null",
                          "create the subscription first");
    }
    task.reads.push_back({.topic = read.subscription->get_topic_name(),
                          .max_age = read.max_age.count() != 0 ? read.max_age : options.max_age});
  }
  for (const auto& publisher : options.writes) {
    if (publisher == nullptr) {
      throw ScheduleError("task '" + task.name + "'", "it writes with a publisher that is null",
                          "create the publisher first");
    }
    task.writes.push_back(publisher->get_topic_name());
  }
  task.group = options.group;
  task.locks = options.locks;
  task.cpu = options.cpu;
  task.waits = options.waits;
  return task;
}

std::vector<executor::BoundInput> inputs_of(const TaskOptions& options) {
  std::vector<executor::BoundInput> inputs;
  inputs.reserve(options.reads.size());
  for (const ReadFrom& read : options.reads) {
    inputs.push_back({.topic = read.subscription->get_topic_name(), .input = read.subscription});
  }
  return inputs;
}

std::string full_topic(const std::string& topic) {
  return topic.starts_with('/') ? topic : "/" + topic;
}

SchedulingStrategy with_full_topics(const SchedulingStrategy& strategy) {
  SchedulingStrategy changed;
  for (const sched::ScenarioPtr& scenario : strategy.scenarios()) {
    SchedulingScenario copy{scenario->name()};
    for (TaskChange change : scenario->tasks()) {
      for (sched::Read& read : change.reads) {
        read.topic = full_topic(read.topic);
      }
      for (std::string& topic : change.writes) {
        topic = full_topic(topic);
      }
      copy.add_task(std::move(change));
    }
    if (scenario->policy()) {
      copy.set_scheduling_policy(scenario->policy());
    }
    changed.add_scenario(std::move(copy));
  }
  if (strategy.allows_absent_tasks()) {
    changed.allow_absent_tasks();
  }
  if (!strategy.scenarios().empty()) {
    changed.set_default_scenario(strategy.scenarios()[strategy.default_scenario()]->name());
  }
  return changed;
}

TaskIndex SchedulingExecutor::Tasks::add(executor::Executor& core,
                                         const std::shared_ptr<TaskSource>& source,
                                         executor::Binding binding) {
  const std::lock_guard changing{changing_};
  refuse_second_task(*source);
  refuse_delivery_outside_of_groups(*source);
  // Whoever may publish on a topic of ROS is not known to the executor below.
  for (const sched::Read& read : source->task.reads) {
    core.declare_external_topic(read.topic);
  }
  if (!source->task.trigger.empty()) {
    core.declare_external_topic(source->task.trigger);
  }
  use_all(*source);
  {
    const std::lock_guard lock{mutex_};
    coming_ = source.get();
  }
  binding.source = source;
  try {
    const executor::AddedTask added = core.add(source->task, std::move(binding));
    meet(added.index);
    return added.index;
  } catch (...) {
    forget(*source);
    throw;
  }
}

void SchedulingExecutor::Tasks::meet(TaskIndex task) noexcept {
  const std::lock_guard lock{mutex_};
  if (coming_ == nullptr || added_.contains(task)) {
    return;
  }
  added_.emplace(task, std::exchange(coming_, nullptr));
}

executor::Change SchedulingExecutor::Tasks::remove(executor::Executor& core,
                                                   std::string_view name) {
  const auto mark = [this, name](bool goes) {
    const std::lock_guard lock{mutex_};
    for (const auto& [index, source] : added_) {
      if (source->task.name == name && source->goes != goes) {
        source->goes = goes;
        return source;
      }
    }
    return static_cast<TaskSource*>(nullptr);
  };
  // First: when the executor below has taken it out, it may be gone at any time.
  const TaskSource* const going = mark(true);
  try {
    return core.remove(name);
  } catch (...) {
    if (going != nullptr) {
      mark(false);
    }
    throw;
  }
}

void SchedulingExecutor::Tasks::forget(TaskSource& source) noexcept {
  {
    const std::lock_guard lock{mutex_};
    std::erase_if(added_, [&](const auto& entry) { return entry.second == &source; });
    if (coming_ == &source) {
      coming_ = nullptr;
    }
  }
  for (const auto& held : std::exchange(source.holds, {})) {
    disuse(held);
  }
  if (std::exchange(source.holds_timer, false)) {
    source.timer->release(this);
  }
}

// A callback under two tasks would run twice at once.
void SchedulingExecutor::Tasks::refuse_second_task(const TaskSource& added) const {
  const std::lock_guard lock{mutex_};
  for (const auto& [index, other] : added_) {
    const bool same_timer = added.timer && other->timer == added.timer;
    const bool same =
        same_timer || (added.subscription && other->subscription == added.subscription);
    if (!same) {
      continue;
    }
    const std::string what = same_timer ? "timer" : "subscription";
    if (other->goes) {
      throw ScheduleError(
          "task '" + added.task.name + "'",
          "its " + what + " is that of task '" + other->task.name + "', which is being removed",
          "wait for that change before it is added again");
    }
    throw ScheduleError("task '" + added.task.name + "'",
                        "its " + what + " is task '" + other->task.name + "' already",
                        "create another " + what + " for it");
  }
}

// Whoever reads a subscription runs its callback, too. Where that callback is in an exclusive group
// as a task of its own, only members of the group may run it.
void SchedulingExecutor::Tasks::refuse_delivery_outside_of_groups(const TaskSource& added) const {
  const auto check = [](const TaskSource& reader, const TaskSource& source) {
    const std::string& group = source.task.group;
    if (source.subscription == nullptr || group.empty() || reader.task.group == group) {
      return;
    }
    if (std::ranges::find(reader.reads, source.subscription) == reader.reads.end()) {
      return;
    }
    throw ScheduleError(
        "task '" + reader.task.name + "'",
        "it reads " + source.subscription->get_topic_name() +
            " and so runs the callback of task '" + source.task.name +
            "', which is in the exclusive group '" + group + "', " +
            (reader.task.group.empty() ? "outside of any group"
                                       : "in group '" + reader.task.group + "'"),
        "put both tasks into one group, or let the reader use a subscription of its own");
  };
  const std::lock_guard lock{mutex_};
  for (const auto& [index, other] : added_) {
    check(added, *other);
    check(*other, added);
  }
}

// What is claimed here is given back by forget().
void SchedulingExecutor::Tasks::use_all(TaskSource& added) {
  if (added.timer != nullptr) {
    added.timer->claim(this);
    added.holds_timer = true;
  }
  auto used = added.reads;
  if (added.subscription != nullptr) {
    used.push_back(added.subscription);
  }
  for (const auto& subscription : used) {
    use(subscription);
    added.holds.push_back(subscription);
  }
}

// A subscription is claimed as long as it releases or feeds any task.
void SchedulingExecutor::Tasks::use(const std::shared_ptr<SubscriptionBase>& subscription) {
  const std::lock_guard lock{users_mutex_};
  const auto known = users_.find(subscription);
  if (known != users_.end()) {
    ++known->second;
    return;
  }
  subscription->claim(this, nullptr);
  users_.emplace(subscription, 1);
}

void SchedulingExecutor::Tasks::disuse(
    const std::shared_ptr<SubscriptionBase>& subscription) noexcept {
  const std::lock_guard lock{users_mutex_};
  const auto known = users_.find(subscription);
  if (--known->second > 0) {
    return;
  }
  subscription->release(this);
  users_.erase(known);
}

bool SchedulingExecutor::Tasks::has(const void* entity) const {
  const std::lock_guard lock{mutex_};
  return std::ranges::any_of(added_ | std::views::values, [entity](const TaskSource* source) {
    return source->timer.get() == entity || source->subscription.get() == entity;
  });
}

std::vector<NamedTask> SchedulingExecutor::Tasks::present() const {
  const std::lock_guard lock{mutex_};
  std::vector<NamedTask> tasks;
  for (const auto& [index, source] : added_) {
    if (!source->goes) {
      tasks.push_back({.index = index, .name = source->task.name});
    }
  }
  return tasks;
}

TaskIndex SchedulingExecutor::Tasks::index_of(std::string_view name) const {
  const std::lock_guard lock{mutex_};
  for (const auto& [index, source] : added_) {
    if (!source->goes && source->task.name == name) {
      return index;
    }
  }
  throw std::out_of_range{"the executor has no task '" + std::string{name} + "'"};
}

const std::string& SchedulingExecutor::Tasks::name_of(TaskIndex task) const {
  const std::lock_guard lock{mutex_};
  const auto found = added_.find(task);
  if (found == added_.end()) {
    throw std::out_of_range{"the executor has no task with index " + std::to_string(task)};
  }
  return found->second->task.name;
}

}  // namespace takt
