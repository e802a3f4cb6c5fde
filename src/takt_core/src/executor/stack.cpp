// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/stack.hpp"

#include <algorithm>
#include <mutex>

#include "takt/executor/run_job.hpp"

namespace takt::executor {

using sched::infinite_ceiling;
using sched::no_ceiling;

Stack::Stack(Shared& shared, int cpu, const sched::Policy& policy)
    : Partition(shared),
      cpu_(cpu),
      calendar_(shared.options.max_tasks),
      ready_(policy, shared.options.max_tasks),
      preempted_above_(no_ceiling) {
  next_jobs_.reserve(shared.options.max_tasks);
  started_.reserve(os::max_priority + 1);
  levels_.reserve(os::max_priority + 1);
}

Stack::~Stack() {
  Stack::join();
}

void Stack::prepare(const Plan& plan) {
  std::vector<TaskIndex> tasks;
  for (TaskIndex i = 0; i < plan.strategy.tasks().size(); ++i) {
    if (task(i).partition == this) {
      tasks.push_back(i);
    }
  }
  std::size_t depth = 1;
  for (const sched::CompiledScenario& scenario : plan.strategy.scenarios()) {
    if (scenario.policy().preemptive()) {
      depth = std::max(depth, scenario.ceilings().depth(tasks));
    }
  }
  // As many as there are priorities left; the job at the very top is not preempted then.
  const int above_base = os::max_priority - shared_.options.base_priority;
  const std::size_t room = static_cast<std::size_t>(above_base) + 1;
  while (levels_.size() < std::min(depth, room)) {
    add_level();
  }
}

void Stack::add_level() {
  auto level = std::make_unique<Level>(levels_.size());
  if (shared_.tracer) {
    level->recorder = shared_.tracer->add_thread();
  }
  os::ThreadSettings settings{.name = "takt.s" + std::to_string(level->number),
                              .stack = shared_.options.stack};
  settings.cpus = {cpu_};
  if (shared_.options.real_time) {
    settings.policy = os::SchedulingPolicy::fifo;
    settings.priority = shared_.options.base_priority + static_cast<int>(level->number);
  }
  level->thread = std::make_unique<os::Thread>(settings, [this, level = level.get()] {
    enter_thread();
    by_number_[level->number].store(level);  // before it can be the standby
    level->ready.notify();
    run(*level);
  });
  level->ready.wait();
  shared_.add(level->thread->shortfalls());
  const std::lock_guard lock{mutex_};
  levels_.push_back(std::move(level));
}

void Stack::place(TaskState& task, TimePoint time) noexcept {
  calendar_.set(task.index, time);
}

void Stack::displace(TaskState& task) noexcept {
  calendar_.remove(task.index);
}

void Stack::retarget() noexcept {
  const sched::Ceilings& ceilings = target_->scenario->ceilings();
  ready_.set_policy(target_->scenario->policy());
  highest_level_ = no_ceiling;
  for (TaskIndex i = 0; i < target_->scenario->parameters().size(); ++i) {
    if (task(i).partition == this && target_->scenario->parameters(i).active) {
      highest_level_ = std::max(highest_level_, ceilings.level(i));
    }
  }
  // Levels of two scenarios cannot be compared: groups that are held keep all others out.
  for (Started& started : started_) {
    started.ceiling = started.ceiling == no_ceiling ? no_ceiling : infinite_ceiling;
  }
}

void Stack::wake_for(const TaskState& task) noexcept {
  // Both are written before the writer looks for announcements, and this one is announced already:
  // if the values are about to change, their writer sees it.
  const std::size_t standby = standby_.load();
  const sched::Level above = preempted_above_.load();
  if (standby != nobody && (above == no_ceiling || task.wake_key.load() > above)) {
    by_number_[standby].load()->event.notify_thread();
  }
}

void Stack::wake_to_follow() noexcept {
  const std::size_t standby = standby_.load();
  if (standby != nobody) {
    by_number_[standby].load()->event.notify_thread();
  }
}

void Stack::wake_to_stop() noexcept {
  for (const auto& level : by_number_) {
    if (Level* const found = level.load()) {
      found->event.notify_thread();
    }
  }
}

void Stack::join() {
  for (const auto& level : levels_) {
    if (level->thread->joinable()) {
      level->thread->join();
    }
  }
}

void Stack::run(Level& level) noexcept {
  std::unique_lock lock{mutex_};
  TimePoint now = os::now();
  while (!stopping()) {
    catch_up(level.recorder);
    release_due(now, level.recorder);
    TimePoint until = TimePoint::max();
    const auto job = choose(now, until);
    const std::size_t free = lowest_free();
    if (level.number == free && job) {
      run_above(level, *job, lock, now);
      continue;
    }
    if (level.number >= free) {
      publish(free, started_.empty() ? no_ceiling : preempted_above(started_.back().job));
    }
    if (level.number != free) {
      if (wake_by(free, job ? now : until)) {
        levels_[free]->event.notify_thread();
      }
      if (level.number != free + 1) {
        until = TimePoint::max();
      }
    }
    now = os::now();
    if (news() || until <= now) {
      continue;
    }
    level.asleep_until = until;
    lock.unlock();
    level.event.wait_until(until);
    lock.lock();
    level.asleep_until = TimePoint::min();
    now = os::now();
  }
}

void Stack::run_above(Level& level, const Job& job, std::unique_lock<PriorityMutex>& lock,
                      TimePoint& now) noexcept {
  const std::size_t above = level.number + 1;
  const sched::Level limit = preempted_above(job);
  bool wake_standby = false;
  if (limit < highest_level_ && above < levels_.size()) {
    publish(above, limit);  // NOLINT(readability-suspicious-call-argument)
    if (news()) {
      return;  // somebody may have looked before; decide again
    }
    wake_standby = wake_by(above, calendar_.next_time());
  } else {
    publish(nobody, infinite_ceiling);
  }
  if (ready_.top().task == job.task) {
    ready_.pop();
  } else {
    ready_.remove(job.task, job.index);
  }
  TaskState& state = task(job.task);
  const Target& target = *state.under;
  started_.push_back({.job = job,
                      .level = level.number,
                      .ceiling = target_->scenario->ceilings().ceiling(job.task)});
  lock.unlock();
  if (wake_standby) {
    by_number_[above].load()->event.notify_thread();
  }
  now = run_job(shared_, state, job, target, level.recorder);
  lock.lock();
  std::erase_if(started_, [&](const Started& started) { return started.level == level.number; });
  finish(lock, state, now, level.recorder);
}

void Stack::release_due(TimePoint now, trace::Recorder& recorder) noexcept {
  while (calendar_.next_time() <= now) {
    if (const auto job = release(task(calendar_.first()), now, recorder)) {
      // A task has at most one job, so there is room.
      static_cast<void>(ready_.push(*job));
    }
  }
}

std::optional<Job> Stack::choose(TimePoint now, TimePoint& until) noexcept {
  until = calendar_.next_time();
  if (ready_.empty()) {
    return {};
  }
  if (started_.empty()) {
    return choose_idle(now, until);
  }
  const sched::Policy& policy = target_->scenario->policy();
  const Job& best = ready_.top();
  const sched::Level ceiling = system_ceiling();
  if (!policy.preemptive() || lowest_free() >= levels_.size() ||
      !sched::runs_before(policy, best, started_.back().job) ||
      (ceiling != no_ceiling && target_->scenario->ceilings().level(best.task) <= ceiling)) {
    return {};
  }
  return best;
}

std::optional<Job> Stack::choose_idle(TimePoint now, TimePoint& until) noexcept {
  const sched::Policy& policy = target_->scenario->policy();
  if (policy.work_conserving()) {
    return ready_.top();
  }
  next_jobs_.clear();
  for (TaskIndex i = 0; i < target_->scenario->parameters().size(); ++i) {
    const TaskState& state = task(i);
    if (state.partition == this && state.kind == sched::TaskKind::timer) {
      if (const auto next = state.timer.next_after(now)) {
        next_jobs_.push_back(target_->scenario->job(i, next->index, next->time));
      }
    }
  }
  const sched::Decision decision = policy.decide(ready_.jobs(), next_jobs_, now);
  if (decision.job != sched::Decision::none) {
    return ready_.jobs()[decision.job];
  }
  if (decision.idle_until <= now) {
    return ready_.top();  // a policy that waits for the past would keep the core from everybody
  }
  until = std::min(until, decision.idle_until);
  return {};
}

void Stack::publish(std::size_t standby, sched::Level above) noexcept {
  preempted_above_.store(above);
  standby_.store(standby);
}

// True when the thread sleeps longer than that; then it has to be notified.
bool Stack::wake_by(std::size_t number, TimePoint time) noexcept {
  if (number >= levels_.size() || levels_[number]->asleep_until <= time) {
    return false;
  }
  levels_[number]->asleep_until = TimePoint::min();
  return true;
}

// Jobs of levels up to this one cannot preempt the job, nor any that it has preempted.
sched::Level Stack::preempted_above(const Job& job) const noexcept {
  const sched::Ceilings& ceilings = target_->scenario->ceilings();
  if (!target_->scenario->policy().preemptive()) {
    return infinite_ceiling;
  }
  const sched::Level ceiling = std::max(system_ceiling(), ceilings.ceiling(job.task));
  return ceilings.has_levels() ? std::max(ceiling, ceilings.level(job.task)) : ceiling;
}

sched::Level Stack::system_ceiling() const noexcept {
  sched::Level highest = no_ceiling;
  for (const Started& started : started_) {
    highest = std::max(highest, started.ceiling);
  }
  return highest;
}

}  // namespace takt::executor
