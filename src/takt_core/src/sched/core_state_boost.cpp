// SPDX-License-Identifier: Apache-2.0
//
// A job whose data a reader needs soon gets the reader's priority, wherever it is by then.
#include <algorithm>

#include "takt/sched/age_requests.hpp"
#include "takt/sched/core_state.hpp"

namespace takt::sched {

using Phase = CoreTask::Phase;

// Where the calendar has to have a task whose job is under way: when a reader's request has come.
void CoreState::await_request(CoreTask& task) noexcept {
  const bool under_way = task.phase == Phase::pending || task.phase == Phase::started;
  if (target_->watches.empty() || !under_way || task.leaves) {
    return;
  }
  const bool can_be_boosted = !task.boosted && target_->scenario->policy().fixed_priority() &&
                              target_->scenario->parameters(task.index).boosted_priority > 0;
  forget_served(*target_, task.index, task.sampled);
  const TimePoint time = can_be_boosted ? time_of_request(*target_, task.index) : TimePoint::max();
  if (time == TimePoint::max()) {
    calendar_.remove(task.place);
  } else {
    calendar_.set(task.place, time);
  }
}

void CoreState::boost(CoreTask& task) noexcept {
  calendar_.remove(task.place);
  task.boosted = true;
  const int priority = target_->scenario->parameters(task.index).boosted_priority;
  if (task.phase == Phase::started) {
    boost_started(task, priority);
    return;
  }
  const auto pending = ready_.jobs();
  Job job = *std::ranges::find(pending, task.index, &Job::task);
  if (job.priority >= priority) {
    return;
  }
  ready_.remove(task.index);
  job.priority = priority;
  static_cast<void>(ready_.push(job));
  listener_->boosted(task, job, started_.size());
}

// Moves it above all that it comes before now.
void CoreState::boost_started(CoreTask& task, int priority) noexcept {
  const auto entry = std::ranges::find(started_, &task, &Started::task);
  if (entry->job.priority >= priority) {
    return;
  }
  entry->job.priority = priority;
  if (entry->level != no_ceiling) {
    entry->level = priority;
  }
  const auto rank = [](const Started& started) { return std::max(started.level, started.ceiling); };
  const auto first_above = std::find_if(
      entry + 1, started_.end(), [&](const Started& other) { return rank(other) >= rank(*entry); });
  const Job job = entry->job;
  auto above = started_.end() - entry - 1;
  if (target_->scenario->policy().preemptive()) {
    above = started_.end() - first_above;
    std::rotate(entry, entry + 1, first_above);
  }
  listener_->boosted(task, job, static_cast<std::size_t>(above));
}

}  // namespace takt::sched
