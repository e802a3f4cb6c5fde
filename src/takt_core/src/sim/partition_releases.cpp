// SPDX-License-Identifier: Apache-2.0
//
// What reaches a core in virtual time, and what its decisions lead to.
#include <algorithm>

#include "partition.hpp"
#include "takt/os/saturating.hpp"

namespace takt::sim {
namespace {

using trace::EventType;

TaskState& state_of(sched::CoreTask& task) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): there are no others here
  return static_cast<TaskState&>(task);
}

}  // namespace

void Partition::arrive(TaskState& task, TimePoint now) noexcept {
  if (!state_.arrive(task, now, 0)) {
    ++task.metrics.lost_arrivals;
    return;
  }
  if (is_thread()) {
    look_ahead_all();
  } else {
    next_ = std::min(next_, state_.next_look());
  }
}

void Partition::released(sched::CoreTask& core_task, const Job& job,
                         const sched::Release* regular) noexcept {
  TaskState& task = state_of(core_task);
  if (threads_.empty()) {  // several threads pay it with each job
    debt_ = os::add_sat(debt_, overheads_.release);
  }
  if (regular != nullptr) {
    ++task.metrics.early_releases;
    record(EventType::early_release, job.release, task, job.index,
           regular->time.time_since_epoch().count());
  }
  ++task.metrics.releases;
  record(EventType::release, job.release, task, job.index,
         job.deadline == TimePoint::max() ? trace::no_deadline
                                          : job.deadline.time_since_epoch().count());
}

void Partition::skipped(sched::CoreTask& core_task, const sched::Skipped& skipped) noexcept {
  TaskState& task = state_of(core_task);
  task.metrics.releases += skipped.count;
  task.metrics.skipped += skipped.count;
  record(EventType::skip, skipped.first.time, task, skipped.first.index,
         static_cast<std::int64_t>(skipped.count));
}

// Tasks do not go while an application is simulated.
void Partition::dropped(sched::CoreTask& core_task, const Job& job) noexcept {
  TaskState& task = state_of(core_task);
  ++task.metrics.skipped;
  record(EventType::skip, job.release, task, job.index, 1);
}

// Who has the core is looked at by decide().
void Partition::boosted(sched::CoreTask& core_task, const Job& job, std::size_t above) noexcept {
  TaskState& task = state_of(core_task);
  task.job.priority = job.priority;
  record(EventType::boost, now_, task, job.index, job.priority, trace::no_topic, above);
}

void Partition::wanted(TaskIndex source) noexcept {
  TaskState& wanted = task(source);
  Partition& partition = *wanted.partition;
  partition.state_.look(wanted);
  if (partition.state_.target() != nullptr) {
    partition.next_ = std::min(partition.next_, partition.state_.next_look());
  }
}

}  // namespace takt::sim
