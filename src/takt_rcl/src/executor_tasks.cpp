// SPDX-License-Identifier: Apache-2.0
#include "executor_tasks.hpp"

#include <algorithm>
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
  task.waits = options.waits;
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
  Added added{
      .name = task.name, .group = task.group, .timer = timer, .source = source, .reads = {}};
  for (const ReadFrom& read : options.reads) added.reads.push_back(read.subscription);
  const std::lock_guard changing{changing_};
  refuse_second_task(added);
  refuse_delivery_outside_of_groups(added);
  // Whoever may publish on a topic of ROS is not known to the executor below.
  for (const sched::Read& read : task.reads) core.declare_external_topic(read.topic);
  if (!task.trigger.empty()) core.declare_external_topic(task.trigger);
  use_all(added);
  {
    // Before the executor below knows the task: it may run, and ask for its name, at once.
    const std::lock_guard lock{mutex_};
    added_.push_back(added);
  }
  executor::AddedTask result;
  try {
    result = core.add(std::move(task), std::move(binding));
  } catch (...) {
    {
      const std::lock_guard lock{mutex_};
      added_.pop_back();
    }
    disuse_all(added);
    throw;
  }
  {
    const std::lock_guard lock{mutex_};
    added_.back().running = true;
  }
  if (source != nullptr) {
    source->claim(this, [release = result.release](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) static_cast<void>(release.notify());
    });
  }
  return result.index;
}

void SchedulingExecutor::Tasks::remove(executor::Executor& core, std::string_view name) {
  const std::lock_guard changing{changing_};
  core.remove(name);
  Added removed;
  {
    const std::lock_guard lock{mutex_};
    const auto found = std::ranges::find_if(added_, [&](const Added& added) {
      return (added.timer || added.source) && added.name == name;
    });
    if (found == added_.end()) return;
    removed = std::move(*found);
    *found = {.name = removed.name, .group = {}, .timer = nullptr, .source = nullptr, .reads = {}};
  }
  if (removed.source != nullptr) removed.source->claim(this, nullptr);
  disuse_all(removed);
}

void SchedulingExecutor::Tasks::release_subscriptions() noexcept {
  for (const auto& [subscription, users] : users_) subscription->release(this);
}

// When no callback runs any more.
SchedulingExecutor::Tasks::~Tasks() {
  for (const Added& added : added_) {
    if (added.timer) added.timer->release(this);
  }
}

// A callback under two tasks would run twice at once.
void SchedulingExecutor::Tasks::refuse_second_task(const Added& added) const {
  for (const Added& other : added_) {
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
  for (const Added& other : added_) {
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
  return std::ranges::any_of(added_, [entity](const Added& added) {
    return added.timer.get() == entity || added.source.get() == entity;
  });
}

std::vector<TaskIndex> SchedulingExecutor::Tasks::present() const {
  const std::lock_guard lock{mutex_};
  std::vector<TaskIndex> tasks;
  for (std::size_t i = 0; i < added_.size(); ++i) {
    if (added_[i].running) tasks.push_back(static_cast<TaskIndex>(i));
  }
  return tasks;
}

TaskIndex SchedulingExecutor::Tasks::index_of(std::string_view name) const {
  const std::lock_guard lock{mutex_};
  // The last one: a name may be used again after it was removed.
  const auto found = std::ranges::find(added_.rbegin(), added_.rend(), name, &Added::name);
  if (found == added_.rend()) {
    throw std::out_of_range{"the executor has no task '" + std::string{name} + "'"};
  }
  return static_cast<TaskIndex>(added_.rend() - found - 1);
}

const std::string& SchedulingExecutor::Tasks::name_of(TaskIndex task) const {
  const std::lock_guard lock{mutex_};
  return added_.at(task).name;
}

void SchedulingExecutor::Tasks::refuse_after_start() const {
  if (started) throw std::logic_error{"handlers must be set before the executor starts"};
}

}  // namespace takt
