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
                     .overrun = options.overrun.value_or(Overrun::skip)};
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
  task.cpu = options.cpu;
  return task;
}

std::vector<executor::BoundInput> inputs_of(const TaskOptions& options) {
  std::vector<executor::BoundInput> inputs;
  for (const ReadFrom& read : options.reads) {
    inputs.push_back({.topic = read.subscription->get_topic_name(), .input = read.subscription});
  }
  return inputs;
}

namespace {

std::string full(const std::string& topic) {
  return topic.starts_with('/') ? topic : "/" + topic;
}

}  // namespace

SchedulingStrategy with_full_topics(const SchedulingStrategy& strategy) {
  SchedulingStrategy changed;
  for (const sched::ScenarioPtr& scenario : strategy.scenarios()) {
    SchedulingScenario copy{scenario->name()};
    for (TaskChange change : scenario->tasks()) {
      for (sched::Read& read : change.reads) read.topic = full(read.topic);
      for (std::string& topic : change.writes) topic = full(topic);
      copy.add_task(std::move(change));
    }
    if (scenario->policy()) copy.set_scheduling_policy(scenario->policy());
    changed.add_scenario(std::move(copy));
  }
  if (!strategy.scenarios().empty()) {
    changed.set_default_scenario(strategy.scenarios()[strategy.default_scenario()]->name());
  }
  return changed;
}

TaskIndex SchedulingExecutor::Tasks::add(executor::Executor& core, sched::Task task,
                                         executor::Binding binding, const TaskOptions& options,
                                         const std::shared_ptr<Timer>& timer,
                                         const std::shared_ptr<SubscriptionBase>& source) {
  ByIndex coming;
  Added& added = coming[0];
  added = {.name = task.name, .group = task.group, .timer = timer, .source = source, .reads = {}};
  for (const ReadFrom& read : options.reads) added.reads.push_back(read.subscription);
  const std::lock_guard changing{changing_};
  refuse_second_task(added);
  refuse_delivery_outside_of_groups(added);
  // Whoever may publish on a topic of ROS is not known to the executor below.
  for (const sched::Read& read : task.reads) core.declare_external_topic(read.topic);
  if (!task.trigger.empty()) core.declare_external_topic(task.trigger);
  use_all(added);
  {
    const std::lock_guard lock{mutex_};
    coming_ = coming.extract(coming.begin());
  }
  executor::AddedTask result;
  try {
    result = core.add(std::move(task), std::move(binding));
  } catch (...) {
    disuse_all(added);
    const std::lock_guard lock{mutex_};
    std::erase_if(added_, [&](const auto& met) { return &met.second == &added; });
    coming_ = {};
    throw;
  }
  meet(result.index);
  added.release = result.release;
  announce_to(added);
  return result.index;
}

void SchedulingExecutor::Tasks::meet(TaskIndex task) noexcept {
  const std::lock_guard lock{mutex_};
  if (coming_.empty() || added_.contains(task)) return;
  coming_.key() = task;
  added_.insert(std::move(coming_));
}

void SchedulingExecutor::Tasks::remove(executor::Executor& core, std::string_view name) {
  const std::lock_guard changing{changing_};
  const auto found = find(name);
  if (found == added_.end()) return core.remove(name);  // which says that there is none
  const Added& going = found->second;
  // First: the executor below may give the place of a removed task to another one.
  if (going.source != nullptr) going.source->claim(this, nullptr);
  try {
    core.remove(name);
  } catch (...) {
    announce_to(going);
    throw;
  }
  disuse_all(going);
  const std::lock_guard lock{mutex_};
  added_.erase(found);
}

// Messages of its subscription, those that wait too, release the task from now on.
void SchedulingExecutor::Tasks::announce_to(const Added& added) {
  if (added.source == nullptr) return;
  added.source->claim(this, [release = added.release](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) static_cast<void>(release.notify());
  });
}

void SchedulingExecutor::Tasks::release_subscriptions() noexcept {
  for (const auto& [subscription, users] : users_) subscription->release(this);
}

// When no callback runs any more.
SchedulingExecutor::Tasks::~Tasks() {
  for (const auto& [index, added] : added_) {
    if (added.timer) added.timer->release(this);
  }
}

// A callback under two tasks would run twice at once.
void SchedulingExecutor::Tasks::refuse_second_task(const Added& added) const {
  for (const auto& [index, other] : added_) {
    const bool same_timer = added.timer && other.timer == added.timer;
    if (!same_timer && !(added.source && other.source == added.source)) continue;
    const std::string what = same_timer ? "timer" : "subscription";
    throw ScheduleError("task '" + added.name + "'",
                        "its " + what + " is task '" + other.name + "' already",
                        "create another " + what + " for it");
  }
}

// Whoever reads a subscription runs its callback, too. Where that callback is in an exclusive group
// as a task of its own, only members of the group may run it.
void SchedulingExecutor::Tasks::refuse_delivery_outside_of_groups(const Added& added) const {
  const auto check = [](const Added& reader, const Added& task) {
    if (task.source == nullptr || task.group.empty() || reader.group == task.group) return;
    if (std::ranges::find(reader.reads, task.source) == reader.reads.end()) return;
    throw ScheduleError(
        "task '" + reader.name + "'",
        "it reads " + task.source->get_topic_name() + " and so runs the callback of task '" +
            task.name + "', which is in the exclusive group '" + task.group + "', " +
            (reader.group.empty() ? "outside of any group" : "in group '" + reader.group + "'"),
        "put both tasks into one group, or let the reader use a subscription of its own");
  };
  for (const auto& [index, other] : added_) {
    check(added, other);
    check(other, added);
  }
}

void SchedulingExecutor::Tasks::use_all(const Added& added) {
  Added used;  // so far
  try {
    if (added.timer != nullptr) added.timer->claim(this);
    used.timer = added.timer;
    for (const auto& read : added.reads) {
      use(read);
      used.reads.push_back(read);
    }
    if (added.source != nullptr) use(added.source);
  } catch (...) {
    disuse_all(used);
    throw;
  }
}

void SchedulingExecutor::Tasks::disuse_all(const Added& added) noexcept {
  for (const auto& read : added.reads) disuse(read);
  if (added.source != nullptr) disuse(added.source);
  if (added.timer != nullptr) added.timer->release(this);
}

// A subscription is claimed as long as it releases or feeds any task.
void SchedulingExecutor::Tasks::use(const std::shared_ptr<SubscriptionBase>& subscription) {
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
  const auto known = users_.find(subscription);
  if (--known->second > 0) return;
  subscription->release(this);
  users_.erase(known);
}

bool SchedulingExecutor::Tasks::has(const void* entity) const {
  const std::lock_guard lock{mutex_};
  return std::ranges::any_of(added_ | std::views::values, [entity](const Added& added) {
    return added.timer.get() == entity || added.source.get() == entity;
  });
}

std::vector<NamedTask> SchedulingExecutor::Tasks::present() const {
  const std::lock_guard lock{mutex_};
  std::vector<NamedTask> tasks;
  for (const auto& [index, added] : added_) tasks.push_back({.index = index, .name = added.name});
  return tasks;
}

SchedulingExecutor::Tasks::ByIndex::const_iterator SchedulingExecutor::Tasks::find(
    std::string_view name) const {
  return std::ranges::find_if(added_, [&](const auto& task) { return task.second.name == name; });
}

TaskIndex SchedulingExecutor::Tasks::index_of(std::string_view name) const {
  const std::lock_guard lock{mutex_};
  const auto found = find(name);
  if (found == added_.end()) {
    throw std::out_of_range{"the executor has no task '" + std::string{name} + "'"};
  }
  return found->first;
}

const std::string& SchedulingExecutor::Tasks::name_of(TaskIndex task) const {
  const std::lock_guard lock{mutex_};
  const auto found = added_.find(task);
  if (found == added_.end()) {
    throw std::out_of_range{"the executor has no task with index " + std::to_string(task)};
  }
  return found->second.name;
}

void SchedulingExecutor::Tasks::refuse_after_start() const {
  if (started) throw std::logic_error{"handlers must be set before the executor starts"};
}

}  // namespace takt
