// SPDX-License-Identifier: Apache-2.0
//
// Releases in virtual time: when the calendar has a task, and how its next job comes about.
#include "partition.hpp"
#include "takt/executor/age_requests.hpp"

namespace takt::sim {

using trace::EventType;

namespace {

TimePoint noticed(const TaskState& task, const executor::Release& release) noexcept {
  return task.late ? release.time + task.jitter(release.index) : release.time;
}

}  // namespace

void Partition::announce(TaskState& task, TimePoint now) noexcept {
  if (target_ == nullptr) {
    return;  // begin() looks at all tasks
  }
  if (!task.timer_task) {
    count_skipped(task, task.messages->drop_if_inactive());
  }
  reschedule(task, now);
  if (!blind_) {
    next_ = std::min(next_, calendar_.first_time());
  }
}

// Where the calendar has to have the task now.
void Partition::reschedule(TaskState& task, TimePoint now) noexcept {
  if (task.busy || task.queued) {
    return;
  }
  const auto next = task.next_release();
  if (!next) {
    calendar_.remove(task.local);
    return;
  }
  TimePoint time = noticed(task, *next);
  if (task.watched) {
    time = executor::time_of_next(*target_, task.index, time);
  }
  calendar_.set(task.local, time);
  if (!task.watching) {
    return;
  }
  for (executor::AgeWatch* const watch : target_->by_reader[task.index]) {
    if (executor::request_sample(*watch, scenario_->parameters(task.index), next->time)) {
      TaskState& source = *by_index_[*watch->constraint->source];
      source.partition->announce(source, now);
    }
  }
}

void Partition::notice(TaskState& task, TimePoint now) noexcept {
  debt_ += overheads_.release;
  if (!lanes_) {
    if (const auto job = release(task, now)) {
      calendar_.remove(task.local);
      static_cast<void>(ready_.push(*job));  // a task has at most one job, so there is room
    }
    return;
  }
  const auto next = task.next_release();
  Job job = scenario_->job(task.index, next->index, next->time);
  if (task.watched) {  // if it comes early, that is its place among the others
    job.release = executor::time_of_next(*target_, task.index, next->time);
  }
  static_cast<void>(ready_.push(job));
  task.queued = true;
  calendar_.remove(task.local);
}

std::optional<Job> Partition::release(TaskState& task, TimePoint now) noexcept {
  const auto next = task.next_release();
  if (next && next->time <= now) {
    const Job job = scenario_->job(task.index, next->index, next->time);
    take(task, job);
    return job;
  }
  const auto early =
      next ? executor::release_early(*target_, task.index, task.timer, now) : std::nullopt;
  if (!early) {
    reschedule(task, now);
    return {};
  }
  ++task.metrics.early_releases;
  record(EventType::early_release, early->job.release, task, early->job.index,
         early->regular.time.time_since_epoch().count());
  count_release(task, early->job);
  return early->job;
}

void Partition::take(TaskState& task, const Job& job) noexcept {
  if (task.timer_task) {
    task.timer.take();
  } else {
    task.messages->take();
  }
  count_release(task, job);
}

void Partition::count_release(TaskState& task, const Job& job) noexcept {
  task.busy = true;
  task.under = target_;
  ++task.metrics.releases;
  record(EventType::release, job.release, task, job.index,
         job.deadline == TimePoint::max() ? trace::no_deadline
                                          : job.deadline.time_since_epoch().count());
}

void Partition::count_skipped(TaskState& task, const executor::Skipped& skipped) noexcept {
  if (skipped.count == 0) {
    return;
  }
  task.metrics.releases += skipped.count;
  task.metrics.skipped += skipped.count;
  record(EventType::skip, skipped.first.time, task, skipped.first.index,
         static_cast<std::int64_t>(skipped.count));
}

}  // namespace takt::sim
