// SPDX-License-Identifier: Apache-2.0
//
// The locks that a job takes and leaves while it computes in virtual time.
#include <algorithm>

#include "partition.hpp"
#include "takt/os/saturating.hpp"

namespace takt::sim {

using trace::EventType;

void TaskState::find_steps(nanoseconds computing, const Job& of) noexcept {
  const auto& sections = callback->critical_sections;
  for (std::size_t i = 0; draws_jitter && i < sections.size(); ++i) {
    const std::uint64_t number = of.index * sections.size() + i;
    plan.lengths()[i] = sections[i].shortest +
                        uniform(holding.at(number), sections[i].longest - sections[i].shortest);
  }
  waits_after.clear();
  nanoseconds computed{0};
  for (; waits > 0; --waits) {  // as if it waited there
    computed += computing > computed ? before_wait(computing - computed) : nanoseconds{0};
    waits_after.push_back(computed);
  }
  waits = static_cast<std::int64_t>(waits_after.size());
  steps = plan.steps_within(computing, waits_after);
  step = 0;
}

void Partition::begin_steps(TaskState& task) noexcept {
  const nanoseconds computing = task.empty ? nanoseconds{0} : task.execution(task.job);
  task.find_steps(computing, task.job);
  task.until_end = computing;
  if (!task.steps.empty()) {
    task.left += task.steps.front().at - computing;
  }
}

// What it computes until then.
void Partition::go_to_next_step(TaskState& task) noexcept {
  const nanoseconds from = task.steps[task.step].at;
  const bool last = ++task.step == task.steps.size();
  task.left = (last ? task.until_end : task.steps[task.step].at) - from;
}

void Partition::compute_to_next_step(TaskState& task, TimePoint now) noexcept {
  go_to_next_step(task);
  on_core_ = &task;
  end_ = os::add_sat(now, task.left);
}

void Partition::take_across(LockAcross& lock, TaskState& task, TimePoint now) noexcept {
  const std::size_t number = task.steps[task.step].lock;
  if (lock.spins) {
    static_cast<void>(state_.take(task, number));  // nobody else starts on this core
  } else {
    task.request = model_.next_request();
  }
  if (lock.holder == nullptr) {
    lock.holder = &task;
    if (!lock.spins) {
      state_.put_first(task, task.request);
    }
    compute_to_next_step(task, now);
    return;
  }
  record(EventType::lock_wait, now, task, task.job.index, lock.holder->index,
         static_cast<std::uint16_t>(number));
  lock.waiting.push_back(&task);
  if (lock.spins) {
    on_core_ = &task;
    end_ = TimePoint::max();
  } else {
    waiting_.push_back(&task);  // it goes on when it has the lock
    state_.wait(task);
    record(EventType::preempt, now, task, task.job.index);
  }
}

void Partition::leave(std::size_t number, TimePoint now) noexcept {
  LockAcross* const lock = model_.lock_across(number);
  if (lock == nullptr) {
    state_.leave(number);
    return;
  }
  if (lock->spins) {
    state_.leave(number);
  } else {
    state_.put_back(*lock->holder);
    lock->holder->request = 0;
  }
  lock->holder = nullptr;
  if (!lock->waiting.empty()) {
    lock->holder = lock->waiting.front();
    lock->waiting.erase(lock->waiting.begin());
    lock->holder->partition->go_on(*lock->holder, lock->spins, now);
  }
}

// The job that waits for it has the lock.
void Partition::go_on(TaskState& task, bool spins, TimePoint now) noexcept {
  record(EventType::lock, now, task, task.job.index, 0,
         static_cast<std::uint16_t>(task.steps[task.step].lock));
  if (spins) {
    compute_to_next_step(task, now);
    next_ = std::min(next_, end_);
  } else {
    go_to_next_step(task);
    task.left += overheads_.preemption;
    state_.put_first(task, task.request);
    task.wakes = now;
    next_ = std::min(next_, now);
  }
}

bool Partition::take(TaskState& task, std::size_t lock, TimePoint now) noexcept {
  const sched::CoreTask* const holder = state_.holder(lock);
  const bool taken = state_.take(task, lock);
  if (taken && task.waits_for_lock) {
    record(EventType::lock, now, task, task.job.index, 0, static_cast<std::uint16_t>(lock));
  } else if (!taken && !task.waits_for_lock) {
    record(EventType::lock_wait, now, task, task.job.index, holder->index,
           static_cast<std::uint16_t>(lock));
  }
  task.waits_for_lock = !taken;
  return taken;
}

// The running job has come to where it takes or leaves a lock.
void Partition::pass_step(TaskState& task, TimePoint now) noexcept {
  if (task.steps[task.step].at == task.until_end) {
    for (; task.step < task.steps.size() && !task.steps[task.step].waits; ++task.step) {
      leave(task.steps[task.step].lock, now);
    }
    if (task.step == task.steps.size()) {
      finish_job(task, now);
      return;
    }
  }
  const application::LockStep& step = task.steps[task.step];
  if (step.waits) {
    wait(task, now);
    return;
  }
  if (!step.takes) {
    leave(step.lock, now);  // who waits for it comes before the next step
  } else if (LockAcross* const lock = model_.lock_across(step.lock)) {
    take_across(*lock, task, now);
    return;
  }
  if (!step.takes || take(task, step.lock, now)) {
    compute_to_next_step(task, now);
    return;
  }
  // It tries again when it has the core: whoever holds the lock comes first.
  task.left = overheads_.preemption;
  ++task.metrics.preemptions;
  ++result_.preemptions;
  record(EventType::preempt, now, task, task.job.index);
}

}  // namespace takt::sim
