// SPDX-License-Identifier: Apache-2.0
//
// Another target for a core: a switch of the scenario, or tasks that come, go or change.
#include <algorithm>

#include "takt/os/saturating.hpp"
#include "takt/sched/core_state.hpp"

namespace takt::sched {

using Phase = CoreTask::Phase;

namespace {

const Roster nobody;  // of a core that the target does not know any more

}  // namespace

void CoreState::follow(const Target& target, std::size_t core, std::span<CoreTask* const> tasks,
                       TimePoint time) noexcept {
  const Roster* const roster = core < target.rosters.size() ? &target.rosters[core] : &nobody;
  for (CoreTask* const task : members_) {
    task->leaves = true;
  }
  for (const TaskIndex index : roster->tasks) {
    tasks[index]->leaves = false;
  }
  // Jobs keep the parameters that they were released with, also those that nobody has looked for as
  // they could not start. Of tasks that go, or become inactive, none comes into being any more.
  while (calendar_.first_time() < time) {
    CoreTask& task = *members_[calendar_.first()];
    if (task.leaves || !target.scenario->parameters(task.index).active) {
      calendar_.remove(task.place);
    } else {
      release(task, os::sub_sat(time, std::chrono::nanoseconds{1}));
    }
  }
  const bool comparable =
      fixed_ || target_ == nullptr ||
      (target_->id == target.id && &target_->scenario->policy() == &target.scenario->policy());
  target_ = &target;
  tasks_ = tasks;
  roster_ = roster;
  ready_.set_policy(target.scenario->policy());
  preemptive_ = target.scenario->policy().preemptive();
  work_conserving_ = target.scenario->policy().work_conserving();
  for (CoreTask* const task : members_) {
    if (task->leaves) {
      drop(*task);
    }
  }
  members_.clear();
  calendar_.clear(roster_->tasks.size());
  for (const TaskIndex index : roster_->tasks) {
    tasks[index]->place = static_cast<std::uint32_t>(members_.size());
    members_.push_back(tasks[index]);
  }
  rate_started(comparable);
  for (CoreTask* const task : members_) {
    follow_parameters(*task, time);
    reschedule(*task);
  }
}

void CoreState::follow_parameters(CoreTask& task, TimePoint time) noexcept {
  const TaskParameters& parameters = target_->scenario->parameters(task.index);
  if (task.phase == Phase::absent) {
    task.phase = Phase::idle;
  }
  report(task, task.kind == TaskKind::timer ? task.timer.follow(parameters, time)
                                            : task.messages.follow(parameters));
}

// It is not among the tasks any more: what has not started will not.
void CoreState::drop(CoreTask& task) noexcept {
  if (task.phase == Phase::started) {
    return;
  }
  if (task.phase == Phase::pending) {
    const auto pending = ready_.jobs();
    listener_->dropped(task, *std::ranges::find(pending, task.index, &Job::task));
    ready_.remove(task.index);
  }
  task.phase = Phase::absent;
  task.leaves = false;
}

// What is known of started jobs under another target.
void CoreState::rate_started(bool comparable) noexcept {
  const Ceilings& ceilings = target_->scenario->ceilings();
  for (Started& started : started_) {
    if (!comparable) {
      // Levels of two scenarios cannot be compared: groups and locks that are held keep all others
      // out.
      started.level = no_ceiling;
      const bool holds = started.task->group != 0 || started.ceiling != no_ceiling;
      started.ceiling = holds ? infinite_ceiling : no_ceiling;
    } else if (started.task->group != 0 && !started.task->leaves) {
      started.ceiling = std::max(started.ceiling, ceilings.ceiling(started.task->index));
    }
  }
}

}  // namespace takt::sched
