// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/core_state.hpp"

#include <algorithm>
#include <utility>

#include "takt/os/saturating.hpp"
#include "takt/sched/age_requests.hpp"

namespace takt::sched {

using Phase = CoreTask::Phase;

namespace {

// Of the task's job, by the parameters of its release. Boosted, it has the level of its reader.
Level own_level(const CoreTask& task) noexcept {
  const Ceilings& ceilings = task.under->scenario->ceilings();
  return task.boosted ? ceilings.boosted_level(task.index) : ceilings.level(task.index);
}

Level level_once_started(const Job& job, const Target& target, const CoreTask& task,
                         bool fixed) noexcept {
  if (fixed) {
    return job.priority;
  }
  return target.scenario->ceilings().has_levels() && task.under->id == target.id ? own_level(task)
                                                                                 : no_ceiling;
}

}  // namespace

// Not inline, so that the type is defined here alone.
CoreListener::~CoreListener() = default;

CoreState::CoreState(CoreListener& listener, const Policy& policy, bool fixed, std::size_t tasks)
    : listener_(&listener), fixed_(fixed), depth_(tasks), calendar_(tasks), ready_(policy, tasks) {
  members_.reserve(tasks);
  started_.reserve(tasks + 1);
  pending_jobs_.reserve(tasks);
  next_jobs_.reserve(tasks);
}

CoreState::Room::Room(const Policy& policy, std::size_t tasks)
    : calendar_{tasks}, ready_{policy, tasks} {
  members_.reserve(tasks);
  started_.reserve(tasks + 1);
  pending_jobs_.reserve(tasks);
  next_jobs_.reserve(tasks);
}

void CoreState::move_to(Room& room) noexcept {
  room.members_.assign(members_.begin(), members_.end());
  room.calendar_.copy(calendar_);
  ready_.swap_memory(room.ready_);
  room.started_.assign(started_.begin(), started_.end());
  std::swap(members_, room.members_);
  std::swap(calendar_, room.calendar_);
  std::swap(started_, room.started_);
  std::swap(pending_jobs_, room.pending_jobs_);
  std::swap(next_jobs_, room.next_jobs_);
}

bool CoreState::arrive(CoreTask& task, TimePoint time, std::int64_t value) noexcept {
  if (!task.messages.arrive(time, value)) {
    return false;
  }
  if (task.phase == Phase::idle) {
    report(task, task.messages.drop_if_inactive());
    reschedule(task);
  }
  return true;
}

bool CoreState::arrive_now(CoreTask& task, TimePoint time, std::int64_t value) noexcept {
  const bool is_next = task.phase == Phase::idle && task.lateness == nullptr && !in_rounds_ &&
                       target_->watches.empty() && calendar_.first_time() > time;
  const auto index = is_next ? task.messages.pass() : std::nullopt;
  if (!index) {
    return arrive(task, time, value);
  }
  Job job = target_->scenario->job(task.index, *index, time);
  job.value = value;
  listener_->released(task, make_pending(task, job), nullptr);
  return true;
}

void CoreState::look(CoreTask& task) noexcept {
  if (target_ != nullptr) {
    reschedule(task);
  }
}

// Where the calendar has to have the task now.
void CoreState::reschedule(CoreTask& task) noexcept {
  if (task.phase != Phase::idle) {
    await_request(task);
    return;
  }
  const auto next = task.next_release();
  if (!next) {
    calendar_.remove(task.place);
    return;
  }
  TimePoint time = next->time;
  if (task.lateness != nullptr) {
    time = os::add_sat(time, task.lateness(task, next->index));
  }
  if (target_->watches.empty()) {
    calendar_.set(task.place, time);  // as a rule: no look at what lies elsewhere in memory
    return;
  }
  forget_served(*target_, task.index, task.sampled);
  if (task.kind == TaskKind::timer) {
    time = std::min(time, time_of_early(*target_, task.index, next->time).time);
  }
  calendar_.set(task.place, time);
  for (AgeWatch* const watch : target_->by_reader[task.index]) {
    if (request_sample(*watch, next->time)) {
      listener_->wanted(*watch->constraint->source);
    }
  }
}

// The task's time in the calendar has come: makes its job, unless there is no reason for one after
// all.
void CoreState::release(CoreTask& task, TimePoint now) noexcept {
  if (task.phase != Phase::idle) {
    boost(task);
    return;
  }
  const auto next = task.next_release();
  const bool due = next && next->time <= now;
  Early early;
  if (next && task.kind == TaskKind::timer && !target_->watches.empty()) {
    early = time_of_early(*target_, task.index, next->time);
  }
  Job job;
  if (early.time <= now) {
    job = release_early(*target_, task.index, task.timer, early);
    listener_->released(task, job, &*next);
  } else if (due) {
    job = target_->scenario->job(task.index, next->index, next->time);
    job.value = next->value;
    if (task.kind == TaskKind::timer) {
      task.timer.take();
    } else {
      task.messages.take();
    }
    listener_->released(task, job, nullptr);
  } else {
    calendar_.remove(task.place);
    reschedule(task);
    return;
  }
  calendar_.remove(task.place);
  make_pending(task, job);
  await_request(task);
}

const Job& CoreState::make_pending(CoreTask& task, const Job& job) noexcept {
  task.phase = Phase::pending;
  task.under = target_;
  task.boosted = false;
  return *ready_.push(job);  // a task has at most one job, so there is room
}

const Job* CoreState::choose(TimePoint now, TimePoint& idle_until) noexcept {
  if (result_) {
    return take_for_thread(now);
  }
  if (ready_.empty() || started_.size() >= depth_) {
    return nullptr;
  }
  if (started_.empty()) {
    return work_conserving_ ? &ready_.top() : ask_policy(now, idle_until);
  }
  const Started* const urgent = most_urgent();
  const auto preempts = [&] {
    return preemptive_ && target_->scenario->policy().before(ready_.top(), urgent->job);
  };
  if (urgent != nullptr && !preempts()) {
    return nullptr;
  }
  return may_start(ready_.top()) ? &ready_.top() : nullptr;
}

// On an idle core, where it is not always the first job.
const Job* CoreState::ask_policy(TimePoint now, TimePoint& idle_until) noexcept {
  next_jobs_.clear();
  for (const CoreTask* const task : members_) {
    if (task->kind == TaskKind::timer) {
      if (const auto next = task->timer.next_after(now)) {
        next_jobs_.push_back(target_->scenario->job(task->index, next->index, next->time));
      }
    }
  }
  const auto pending = ready_.jobs();
  pending_jobs_.assign(pending.begin(), pending.end());
  const Decision decision = target_->scenario->policy().decide(pending_jobs_, next_jobs_, now);
  if (decision.job != Decision::none) {
    return &pending[static_cast<std::ptrdiff_t>(decision.job)];
  }
  if (decision.idle_until <= now) {
    return &ready_.top();  // a policy that waits for the past would keep the core from everybody
  }
  idle_until = decision.idle_until;
  return nullptr;
}

// The test of the stack resource policy; and no two jobs of a group, whatever scenarios did to its
// ceiling meanwhile.
bool CoreState::may_start(const Job& job) const noexcept {
  const Level ceiling = system_ceiling();
  if (ceiling == no_ceiling) {
    return true;
  }
  const std::uint32_t group = tasks_[job.task]->group;
  return level_of(job) > ceiling &&
         (group == 0 || std::ranges::none_of(started_, [group](const Started& started) {
            return started.task->group == group;
          }));
}

// Of a pending job, as ceilings are to be compared with it.
Level CoreState::level_of(const Job& job) const noexcept {
  if (fixed_) {
    return job.priority;
  }
  const CoreTask& task = *tasks_[job.task];
  return task.under->id == target_->id ? own_level(task) : no_ceiling;
}

const CoreState::Started& CoreState::start(const Job& chosen) noexcept {
  const std::size_t before = started_.size();
  CoreTask& released = *tasks_[chosen.task];
  CoreTask& task = released.runner == nullptr ? released : free_runner(released);
  // Made where it stays: processors wait where what was written in parts is copied as a whole.
  const Started& entry =
      started_.emplace_back(chosen, task, level_once_started(chosen, *target_, task, fixed_),
                            target_->scenario->ceilings().ceiling(chosen.task));
  if (&chosen == &ready_.top()) {
    ready_.pop();
  } else {
    ready_.remove(entry.job.task, entry.job.index);
  }
  task.phase = Phase::started;
  if (result_) {
    result_->remove(entry.job.task);
  }
  // Above all that it comes before, and below jobs that wait and come before it.
  const auto rank = [](const Started& started) { return std::max(started.level, started.ceiling); };
  std::size_t at = before;
  while (at > 0 && started_[at - 1].waits && rank(started_[at - 1]) > rank(entry)) {
    --at;
  }
  if (at != before) {
    const auto place = started_.begin() + static_cast<std::ptrdiff_t>(at);
    std::rotate(place, started_.end() - 1, started_.end());
  }
  return started_[at];
}

void CoreState::settle_start(CoreTask& task, TimePoint started) noexcept {
  if (!in_rounds_) {
    return;
  }
  CoreTask& released = *tasks_[task.index];
  apply_overrun(released, started);
  if (&released != &task) {
    reschedule(released);
  }
}

void CoreState::settle(CoreTask& task, TimePoint ended) noexcept {
  if (turns_) {
    turns_->end(task.index, task.kind == TaskKind::timer, ended);
  } else if (result_) {
    look_until(ended);
  }
  if (!in_rounds_) {
    apply_overrun(task, ended);
  }
}

void CoreState::apply_overrun(CoreTask& task, TimePoint time) noexcept {
  if (!task.leaves) {
    report(task, task.kind == TaskKind::timer ? task.timer.end_of_job(time)
                                              : task.messages.end_of_job(time));
  }
}

void CoreState::end(CoreTask& task) noexcept {
  if (started_.back().task == &task) {
    started_.pop_back();
  } else {
    std::erase_if(started_, [&](const Started& started) { return started.task == &task; });
  }
  if (result_ && tasks_[task.index] != &task) {
    task.phase = Phase::idle;  // a runner, which has no releases of its own
    return;
  }
  if (result_ && task.group != 0) {
    result_->ring();
  }
  if (task.kind == TaskKind::timer && task.timer.taken()) {
    task.sampled = task.timer.taken()->time;
  }
  task.phase = task.leaves ? Phase::absent : Phase::idle;
  if (!std::exchange(task.leaves, false)) {
    reschedule(task);
  }
}

Level CoreState::threshold() const noexcept {
  const Started* const urgent = most_urgent();
  if (urgent == nullptr) {
    return system_ceiling();
  }
  if (!preemptive_) {
    return infinite_ceiling;
  }
  return std::max(system_ceiling(), urgent->level);
}

Level CoreState::threshold_above(const Job& chosen) const noexcept {
  if (!preemptive_) {
    return infinite_ceiling;
  }
  return std::max({system_ceiling(),
                   level_once_started(chosen, *target_, *tasks_[chosen.task], fixed_),
                   target_->scenario->ceilings().ceiling(chosen.task)});
}

Level CoreState::system_ceiling() const noexcept {
  Level highest = no_ceiling;
  for (const Started& started : started_) {
    highest = std::max(highest, started.ceiling);
  }
  return highest;
}

CoreState::Started& CoreState::started_entry(const CoreTask& task) noexcept {
  return *std::ranges::find(started_, &task, &Started::task);
}

}  // namespace takt::sched
