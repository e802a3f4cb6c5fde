// SPDX-License-Identifier: Apache-2.0
#include "tasks.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "takt/sched/error.hpp"
#include "timer_sources.hpp"

namespace takt::rclcpp {
namespace {

constexpr int lowest_priority = 1;

bool is_timer(const EntityPointer& entity) {
  return std::holds_alternative<::rclcpp::TimerBase::SharedPtr>(entity);
}

// Whose callbacks wait for answers, and who gives them: neither may stand behind the other.
bool has_own_thread(const CallbackId& id) {
  return !id.housekeeping && (id.kind == CallbackKind::client || id.kind == CallbackKind::service ||
                              id.kind == CallbackKind::waitable);
}

// Of a timer whose node would have it called more often than it is: as often as it goes.
bool is_too_short(const CallbackId& id) {
  return id.kind == CallbackKind::timer && id.period < shortest_period;
}

// Never what is urgent in a group.
bool is_slow(const CallbackId& id) {
  return id.housekeeping || id.kind == CallbackKind::service ||
         id.kind == CallbackKind::qos_event || is_too_short(id);
}

}  // namespace

Tasks::Tasks(const Options& options, TimingRule rule, Needs needs, std::shared_ptr<Bell> bell,
             executor::PriorityMutex& asked)
    : options_{options},
      rule_{std::move(rule)},
      needs_{needs},
      bell_{std::move(bell)},
      asked_{asked} {}

bool Tasks::follow(const std::vector<Entity>& entities, Which which, Fault fault,
                   executor::Executor& core) {
  ++round_;
  std::vector<const Entity*> come;
  std::size_t stayed = 0;
  bool left_out = false;
  for (const Entity& entity : entities) {
    const auto known = present_.find(entity.key);
    // Another one may be where one has gone.
    if (known == present_.end() || known->second.entity.expired() ||
        known->second.source->is_outdated() || known->second.source->is_let_go()) {
      const auto locked = entity.lock();
      if (!locked || is_refused(entity)) {
        continue;
      }
      if (which == Which::all || !entity.describe(*locked).housekeeping) {
        come.push_back(&entity);
      } else {
        left_out = true;
      }
      continue;
    }
    known->second.source->catch_up();
    known->second.seen = round_;
    ++stayed;
  }
  if (come.empty() && stayed == present_.size()) {
    return left_out;
  }
  renew_readers(entities, come);
  try {
    replace(come, fault, core);
  } catch (const std::exception&) {  // also for no thread, or what the middleware refuses
    if (fault == Fault::ends) {
      throw;
    }
    replace_by_node(come, core);
  }
  return left_out;
}

bool Tasks::is_refused(const Entity& entity) {
  const auto found = left_out_.find(entity.key);
  if (found != left_out_.end() && found->second.expired()) {  // another one is there now
    left_out_.erase(found);
    return false;
  }
  return found != left_out_.end();
}

// Where all together are refused.
void Tasks::replace_by_node(const std::vector<const Entity*>& come, executor::Executor& core) {
  std::erase_if(left_out_, [](const auto& entry) { return entry.second.expired(); });
  replace({}, Fault::is_of_node, core);  // what has gone
  std::map<std::string, std::vector<const Entity*>> of_nodes;
  for (const Entity* const entity : come) {
    of_nodes[entity->group->node].push_back(entity);
  }
  for (const auto& [node, of_node] : of_nodes) {
    try {
      replace(of_node, Fault::is_of_node, core);
    } catch (const std::exception& error) {
      for (const Entity* const entity : of_node) {
        left_out_[entity->key] = std::visit(
            [](const auto& weak) { return std::weak_ptr<const void>{weak}; }, entity->entity);
      }
      remarks_.push_back("what has come of node '" + node + "' is left out: " + error.what());
    }
  }
}

void Tasks::replace(const std::vector<const Entity*>& come, Fault fault, executor::Executor& core) {
  Renamed renamed;
  try {
    replace(come, fault, core, renamed);
  } catch (...) {
    std::ranges::for_each(renamed.given, [this](const std::string& name) { names_.erase(name); });
    names_.insert(renamed.freed.begin(), renamed.freed.end());
    throw;
  }
}

void Tasks::let_go(const std::vector<Entity>& entities) {
  std::unordered_set<const void*> keys;
  for (const Entity& entity : entities) {
    keys.insert(entity.key);
  }
  for (const auto& [key, task] : present_) {
    if (!keys.contains(key)) {
      task.source->let_go();
    }
  }
}

void Tasks::look_again() {
  for (const auto& [key, task] : present_) {
    task.source->look_again();
  }
}

// Those that were not seen in this round by those that came.
void Tasks::replace(const std::vector<const Entity*>& come, Fault fault, executor::Executor& core,
                    Renamed& renamed) {
  executor::Changes changes;
  for (const auto& [key, task] : present_) {
    if (task.seen != round_) {
      changes.remove(task.name);
      renamed.freed.push_back(task.name);
      names_.erase(task.name);
    }
  }
  // One that is made anew has hooks in the same entity: the former ones have to go first.
  if (std::ranges::any_of(come,
                          [this](const Entity* one) { return present_.contains(one->key); })) {
    write(core.apply(std::exchange(changes, {})).change, {});
    renamed.freed.clear();
  }
  std::vector<Task> added;
  added.reserve(come.size());
  for (const Entity* const entity : come) {
    if (const auto locked = entity->lock()) {
      added.push_back(make(*entity, *locked, core));
      renamed.given.push_back(added.back().name);
    }
  }
  for (Task& task : added) {
    changes.add(task.source->describe(), bind(task, added, fault));
  }
  write(core.apply(std::move(changes)).change, std::move(added));
}

void Tasks::write(const executor::Change& change, std::vector<Task> added) {
  std::vector<std::shared_ptr<Source>> gone;  // destroyed without the lock
  const std::lock_guard lock{asked_};
  static_cast<void>(is_settled());  // forgets what is
  under_way_.push_back(change);
  std::erase_if(present_, [&](auto& entry) {
    const bool is_gone = entry.second.seen != round_;
    if (is_gone) {
      gone.push_back(std::move(entry.second.source));
    }
    return is_gone;
  });
  for (Task& task : added) {
    present_.emplace(task.key, std::move(task));
  }
}

bool Tasks::is_settled() {
  std::erase_if(under_way_, [](const executor::Change& change) { return change.done(); });
  return under_way_.empty();
}

Tasks::Task Tasks::make(const Entity& entity, const EntityPointer& locked,
                        executor::Executor& core) {
  CallbackId id = entity.describe(locked);
  while (names_.contains(id.text())) {
    ++id.ordinal;
  }
  const Timing timing = rule_ ? rule_(id) : Timing{};
  sched::Task task = describe(id, timing, entity, locked);
  Task made{.key = entity.key,
            .entity = std::visit(
                [](const auto& pointer) { return std::weak_ptr<const void>{pointer}; }, locked),
            .source = {},
            .name = task.name,
            .seen = round_};
  if (const auto* const timer = std::get_if<::rclcpp::TimerBase::SharedPtr>(&locked)) {
    if (is_polled(**timer)) {
      made.source = std::make_shared<PolledTimerSource>(id, task, entity.group, bell_, *timer);
    } else {
      made.source = std::make_shared<SteadyTimerSource>(id, task, entity.group, bell_, *timer);
    }
  } else {
    auto arriving_entity = std::visit(
        [](const auto& pointer) -> std::unique_ptr<Arriving> {
          if constexpr (std::is_same_v<std::decay_t<decltype(pointer)>,
                                       ::rclcpp::TimerBase::SharedPtr>) {
            return nullptr;
          } else {
            return arriving(pointer);
          }
        },
        locked);
    made.source =
        std::make_shared<MessageSource>(id, task, entity.group, bell_, std::move(arriving_entity));
  }
  const auto declare = [&](const std::string& topic) {
    if (declared_.insert(topic).second) {
      core.declare_external_topic(topic);
    }
  };
  if (!task.trigger.empty()) {
    declare(task.trigger);
  }
  for (const sched::Read& read : task.reads) {
    declare(read.topic);
    made.reads.push_back(read.topic);
  }
  names_.insert(made.name);
  if (is_too_short(id)) {
    remarks_.push_back("the timer '" + made.name + "' has a period of " +
                       std::to_string(id.period.count()) + " ns: it is called every " +
                       std::to_string(shortest_period.count()) +
                       " us, after all others unless the timing says otherwise. Give it the period "
                       "at which it has something to do");
  }
  return made;
}

sched::Task Tasks::describe(const CallbackId& id, const Timing& timing, const Entity& entity,
                            const EntityPointer& locked) const {
  sched::Task task;
  task.name = id.text();
  task.reads = timing.reads;
  task.cpu = timing.cpu;
  task.waits = timing.waits.value_or(needs_.own_threads && has_own_thread(id));
  if (!task.waits && entity.group->exclusive) {
    task.group = entity.group->name;
  }
  const bool released_by_time = is_timer(locked) && !is_polled(*std::get<0>(locked));
  if (!released_by_time) {
    task.kind = sched::TaskKind::message;
    task.trigger = is_timer(locked) ? "clock of " + task.name
                   : id.kind == CallbackKind::subscription || id.kind == CallbackKind::intra_process
                       ? id.topic_or_service
                       : task.name;
  }
  nanoseconds deadline = timing.deadline;
  if (deadline.count() == 0 && is_slow(id)) {
    deadline = options_.long_deadline;
  } else if (deadline.count() == 0 && !released_by_time) {
    deadline = id.period.count() > 0 ? id.period : options_.default_deadline;
  }
  nanoseconds period =
      released_by_time ? std::max<nanoseconds>(id.period, shortest_period) : timing.period;
  if (period.count() == 0 && needs_.periods) {
    period = id.period.count() > 0 ? id.period : deadline;
  }
  const int default_priority = is_slow(id) ? lowest_priority : options_.default_priority;
  task.parameters = {
      .period = period,
      .deadline = deadline,
      .priority = timing.priority != 0 ? timing.priority : default_priority,
      .expected_execution = timing.expected_execution,
      .budget = timing.budget,
      .overrun = timing.overrun.value_or(released_by_time ? sched::Overrun::skip
                                                          : sched::Overrun::catch_up),
  };
  return task;
}

}  // namespace takt::rclcpp
