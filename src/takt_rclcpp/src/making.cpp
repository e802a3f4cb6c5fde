// SPDX-License-Identifier: Apache-2.0
//
// What becomes of an entity: its name, its source and its task.
#include <algorithm>
#include <utility>

#include "core_names.hpp"
#include "takt/os/saturating.hpp"
#include "tasks.hpp"
#include "timer_sources.hpp"

namespace takt_rclcpp {
namespace {

constexpr int lowest_priority = 1;
// Each has a place in the tables of its core.
constexpr std::size_t most_lanes = 8;

rclcpp::TimerBase* timer_of(const EntityPointer& entity) {
  const auto* const timer = std::get_if<rclcpp::TimerBase::SharedPtr>(&entity);
  return timer == nullptr ? nullptr : timer->get();
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

CallbackId Tasks::identify(const Entity& entity, const EntityPointer& locked) {
  CallbackId id = entity.describe(locked);
  std::size_t& first = ordinals_[id.text()];
  id.ordinal = std::max(id.ordinal, first);
  while (names_.contains(id.text())) {
    ++id.ordinal;
  }
  first = id.ordinal;
  return id;
}

void Tasks::free_name(const std::string& name) noexcept {
  names_.erase(name);
  ordinals_.clear();
}

Tasks::Task Tasks::make(const CallbackId& id, const Timing& timing, const Entity& entity,
                        const EntityPointer& locked, executor::Executor& core) {
  sched::Task task = describe(id, timing, *entity.group, timer_of(locked));
  // Its node made it at a time of its own.
  task.any_offset = task.kind == sched::TaskKind::timer;
  const std::size_t lanes = lanes_of(id, task, *entity.group);
  if (lanes > 1) {
    task.lane_of = task.name;
    const nanoseconds period = task.parameters.period;
    task.parameters.deadline =
        task.parameters.deadline.count() > 0 ? task.parameters.deadline : period;
    if (task.kind == sched::TaskKind::timer) {
      task.parameters.period = os::mul_sat(period, static_cast<std::int64_t>(lanes));
    }
  }
  Task created{.key = entity.key,
               .entity = std::visit(
                   [](const auto& pointer) { return std::weak_ptr<const void>{pointer}; }, locked),
               .source = {},
               .name = task.name,
               .round = round_};
  if (const auto* const timer = std::get_if<rclcpp::TimerBase::SharedPtr>(&locked)) {
    if (is_polled(**timer)) {
      created.source = std::make_shared<PolledTimerSource>(id, task, entity.group, bell_, *timer);
    } else {
      created.source = std::make_shared<SteadyTimerSource>(id, task, entity.group, bell_, *timer);
    }
  } else {
    created.source =
        std::make_shared<MessageSource>(id, task, entity.group, bell_, listen_to(locked));
  }
  created.source->make_lanes(lanes);
  for (std::size_t lane = 1; lane < lanes; ++lane) {
    created.lanes.push_back(std::make_shared<Lane>(created.source, lane));
  }
  if (!task.trigger.empty()) {
    declare(task.trigger, core);
  }
  for (const sched::Read& read : task.reads) {
    declare(read.topic, core);
    created.reads.push_back(read.topic);
  }
  if (is_too_short(id)) {
    remarks_.push_back(
        "the timer '" + created.name + "' has a period of " + std::to_string(id.period.count()) +
        " ns: it is called every " + std::to_string(shortest_period.count()) +
        " \u00b5s, after all others unless the timing says otherwise. Give it the period "
        "at which it has something to do");
  }
  return created;
}

// As rclcpp's multi-threaded executors run what is in a Reentrant group. A reader runs what it
// reads itself, one callback at a time; and time that others publish releases one job at a time.
std::size_t Tasks::lanes_of(const CallbackId& id, const sched::Task& task,
                            const Group& group) const {
  const bool may_run_at_once =
      id.kind == CallbackKind::subscription || id.kind == CallbackKind::intra_process ||
      id.kind == CallbackKind::service ||
      (id.kind == CallbackKind::timer && task.kind == sched::TaskKind::timer);
  if (!needs_.lanes || group.exclusive || id.housekeeping || !may_run_at_once || task.cpu >= 0 ||
      !task.reads.empty()) {
    return 1;
  }
  return std::clamp<std::size_t>(options_.scheduling.cpus.size(), 1, most_lanes);
}

void Tasks::declare(const std::string& topic, executor::Executor& core) {
  if (declared_.insert(topic).second) {
    core.declare_external_topic(topic);
  }
}

std::unique_ptr<Arriving> Tasks::listen_to(const EntityPointer& locked) {
  return std::visit(
      [](const auto& pointer) -> std::unique_ptr<Arriving> {
        using Pointer = std::decay_t<decltype(pointer)>;
        if constexpr (std::is_same_v<Pointer, rclcpp::TimerBase::SharedPtr>) {
          return nullptr;
        } else {
          return arriving(pointer);
        }
      },
      locked);
}

sched::Task Tasks::describe(const CallbackId& id, const Timing& timing, const Group& group,
                            rclcpp::TimerBase* timer) const {
  sched::Task task;
  task.name = id.text();
  task.reads = timing.reads;
  task.cpu = timing.cpu;
  task.waits = timing.waits.value_or(needs_.own_threads && has_own_thread(id));
  if (!task.waits && group.exclusive) {
    task.group = group.name;
  }
  const bool released_by_time = timer != nullptr && !is_polled(*timer);
  if (!released_by_time) {
    task.kind = sched::TaskKind::message;
    task.trigger = timer != nullptr ? "clock of " + task.name
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

}  // namespace takt_rclcpp
