// SPDX-License-Identifier: Apache-2.0
#include "tasks.hpp"

#include <algorithm>
#include <utility>

#include "takt/sched/error.hpp"
#include "timer_sources.hpp"

namespace takt::rclcpp {
namespace {

constexpr int lowest_priority = 1;

bool is_timer(const Entity& entity) {
  return std::holds_alternative<::rclcpp::TimerBase::SharedPtr>(entity.entity);
}

// Whose callbacks wait for answers, and who gives them: neither may stand behind the other.
bool has_own_thread(const CallbackId& id) {
  return !id.housekeeping && (id.kind == CallbackKind::client || id.kind == CallbackKind::service ||
                              id.kind == CallbackKind::waitable);
}

// Never what is urgent in a group.
bool is_slow(const CallbackId& id) {
  return id.housekeeping || id.kind == CallbackKind::service || id.kind == CallbackKind::qos_event;
}

}  // namespace

Tasks::Tasks(const Options& options, TimingRule rule, bool own_threads, std::shared_ptr<Bell> bell)
    : options_{options},
      rule_{std::move(rule)},
      own_threads_{own_threads},
      bell_{std::move(bell)} {}

void Tasks::follow(const std::vector<Entity>& entities, executor::Executor& core) {
  executor::Changes changes;
  bool any = false;
  std::map<const void*, Task> next;
  std::vector<const void*> come;
  const std::set<std::string> names = names_;
  for (const Entity& entity : entities) {
    const std::shared_ptr<const void> key = entity.key();
    const auto known = present_.find(key.get());
    if (known != present_.end() && known->second.entity.lock() == key &&
        !known->second.source->is_outdated()) {
      known->second.source->catch_up();
      next.emplace(key.get(), known->second);
    }
  }
  for (const auto& [key, task] : present_) {
    if (!next.contains(key)) {
      changes.remove(task.name);
      names_.erase(task.name);
      any = true;
    }
  }
  try {
    for (const Entity& entity : entities) {
      const void* const key = entity.key().get();
      if (!next.contains(key)) {
        next.emplace(key, make(entity, core));
        come.push_back(key);
      }
    }
    for (const void* const key : come) {
      const Task& task = next.at(key);
      changes.add(task.source->describe(), bind(task, next, core));
      any = true;
    }
    if (any) {
      core.apply(std::move(changes));
    }
  } catch (...) {
    names_ = names;
    throw;
  }
  present_ = std::move(next);
}

Tasks::Task Tasks::make(const Entity& entity, executor::Executor& core) {
  CallbackId id = entity.id;
  while (names_.contains(id.text())) {
    ++id.ordinal;
  }
  const Timing timing = rule_ ? rule_(id) : Timing{};
  sched::Task task = describe(id, timing, entity);
  Task made{.entity = entity.key(), .source = {}, .name = task.name};
  if (const auto* const timer = std::get_if<::rclcpp::TimerBase::SharedPtr>(&entity.entity)) {
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
        entity.entity);
    made.source =
        std::make_shared<MessageSource>(id, task, entity.group, bell_, std::move(arriving_entity));
  }
  if (!task.trigger.empty()) {
    core.declare_external_topic(task.trigger);
  }
  for (const sched::Read& read : task.reads) {
    core.declare_external_topic(read.topic);
  }
  names_.insert(made.name);
  return made;
}

sched::Task Tasks::describe(const CallbackId& id, const Timing& timing,
                            const Entity& entity) const {
  sched::Task task;
  task.name = id.text();
  task.reads = timing.reads;
  task.cpu = timing.cpu;
  task.waits = timing.waits.value_or(own_threads_ && has_own_thread(id));
  if (!task.waits && entity.group->exclusive) {
    task.group = entity.group->name;
  }
  const bool released_by_time = is_timer(entity) && !is_polled(*std::get<0>(entity.entity));
  if (!released_by_time) {
    task.kind = sched::TaskKind::message;
    task.trigger = is_timer(entity) ? "clock of " + task.name
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
  const int default_priority = is_slow(id) ? lowest_priority : options_.default_priority;
  task.parameters = {
      .period = released_by_time ? id.period : timing.period,
      .deadline = deadline,
      .priority = timing.priority != 0 ? timing.priority : default_priority,
      .expected_execution = timing.expected_execution,
      .budget = timing.budget,
      .overrun = timing.overrun.value_or(released_by_time ? sched::Overrun::skip
                                                          : sched::Overrun::catch_up),
  };
  return task;
}

executor::Binding Tasks::bind(const Task& task, const std::map<const void*, Task>& among,
                              executor::Executor& /*core*/) const {
  executor::Binding binding;
  binding.source = task.source;
  binding.queue = MessageSource::queue;
  const sched::Task described = task.source->describe();
  if (described.kind == sched::TaskKind::timer) {
    binding.first_release = os::TimePoint::max();
  }
  for (const sched::Read& read : described.reads) {
    bool found = false;
    for (const auto& [key, other] : among) {
      const CallbackId& id = other.source->id();
      const bool feeds =
          id.topic_or_service == read.topic && id.node == task.source->id().node &&
          (id.kind == CallbackKind::subscription || id.kind == CallbackKind::intra_process);
      if (!feeds) {
        continue;
      }
      found = true;
      if (other.source->group().exclusive && &other.source->group() != &task.source->group()) {
        throw sched::ScheduleError(
            "callback '" + task.name + "'",
            "it reads " + read.topic + " and so runs the callback of '" + other.name +
                "', which is in another mutually exclusive group",
            "put both into one callback group of their node, or that subscription into a "
            "Reentrant one");
      }
      binding.inputs.push_back(
          {.topic = read.topic, .input = std::static_pointer_cast<MessageSource>(other.source)});
    }
    if (!found) {
      throw sched::ScheduleError("callback '" + task.name + "'",
                                 "it reads " + read.topic + ", to which its node '" +
                                     task.source->id().node + "' has no subscription",
                                 "name a topic of the same node, with its namespace");
    }
  }
  return binding;
}

}  // namespace takt::rclcpp
