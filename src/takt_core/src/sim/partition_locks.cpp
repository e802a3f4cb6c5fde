// SPDX-License-Identifier: Apache-2.0
//
// The locks that a job takes and leaves while it computes in virtual time.
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
  steps = plan.steps_within(computing);
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
    for (; task.step < task.steps.size(); ++task.step) {
      state_.leave(task.steps[task.step].lock);
    }
    end_job(task, now);
    return;
  }
  const application::LockStep& step = task.steps[task.step];
  if (!step.takes) {
    state_.leave(step.lock);  // who waits for it comes before the next step
  }
  const bool has_core = !step.takes || take(task, step.lock, now);
  if (has_core) {
    const bool last = ++task.step == task.steps.size();
    task.left = (last ? task.until_end : task.steps[task.step].at) - step.at;
    on_core_ = &task;
    end_ = os::add_sat(now, task.left);
    return;
  }
  // It tries again when it has the core: whoever holds the lock comes first.
  task.left = overheads_.preemption;
  ++task.metrics.preemptions;
  ++result_.preemptions;
  record(EventType::preempt, now, task, task.job.index);
}

}  // namespace takt::sim
