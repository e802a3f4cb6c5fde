// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/partition.hpp"

#include <algorithm>

#include "takt/executor/age_requests.hpp"
#include "takt/os/memory.hpp"

namespace takt::executor {
namespace {

using trace::EventType;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
thread_local const Partition* current_partition = nullptr;

std::int64_t count_of(TimePoint time) noexcept {
  return time.time_since_epoch().count();
}

}  // namespace

const Partition* Partition::current() noexcept {
  return current_partition;
}

void Partition::begin(TimePoint origin) {
  {
    const std::lock_guard lock{mutex_};
    trace::Recorder none;  // rings belong to threads; the first scenario is an attribute
    follow(*shared_.target(), origin, none);
  }
  wake_to_follow();
}

void Partition::announce(TaskState& task) noexcept {
  // Two exchanges on one flag: whoever finds it set knows that the other side has yet to look.
  if (!task.announced.exchange(true)) {
    TaskState* head = announced_.load(std::memory_order_relaxed);
    do {
      task.next_announced = head;
    } while (!announced_.compare_exchange_weak(head, &task));
  }
  wake_for(task);
}

bool Partition::follows(const Plan& plan) noexcept {
  const std::lock_guard lock{mutex_};
  const auto of_plan = [&](const Target* target) {
    return std::ranges::any_of(plan.targets,
                               [&](const auto& candidate) { return candidate.get() == target; });
  };
  if (!of_plan(target_)) {
    return false;
  }
  for (std::size_t i = 0; i < followed_; ++i) {
    const TaskState& state = task(static_cast<TaskIndex>(i));
    if (state.partition == this && state.busy && !of_plan(state.under)) {
      return false;
    }
  }
  return true;
}

void Partition::enter_thread() {
  current_partition = this;
  shared_.add(os::prefault_stack(shared_.options.prefaulted_stack));
}

void Partition::catch_up(trace::Recorder& recorder) noexcept {
  const Target* target = shared_.target();
  if (target != target_ && target_ != nullptr) {  // begin() sets the first one
    follow(*target, os::now(), recorder);
  }
  if (announced_.load(std::memory_order_relaxed) == nullptr) {
    return;
  }
  TaskState* next = announced_.exchange(nullptr);
  while (next != nullptr) {
    TaskState& task = *next;
    next = task.next_announced;
    task.announced.exchange(false);
    if (target_ == nullptr) {
      continue;  // begin() looks at all tasks
    }
    if (task.kind == sched::TaskKind::message) {
      count_skipped(task, task.messages.drop_if_inactive(), recorder);
    }
    reschedule(task);
  }
}

void Partition::follow(const Target& target, TimePoint time, trace::Recorder& recorder) noexcept {
  target_ = &target;
  followed_ = target.scenario->parameters().size();
  retarget();
  for (std::size_t i = 0; i < followed_; ++i) {
    TaskState& state = task(static_cast<TaskIndex>(i));
    if (state.partition != this) {
      continue;
    }
    const sched::TaskParameters& parameters = target.scenario->parameters(state.index);
    const Skipped forgotten = state.kind == sched::TaskKind::timer
                                  ? state.timer.follow(parameters, time)
                                  : state.messages.follow(parameters);
    count_skipped(state, forgotten, recorder);
    if (!state.busy) {
      displace(state);
    }
    state.lane = parameters.priority;
    state.wake_key.store(wake_key(state.index));
    reschedule(state);
  }
  recorder.record(EventType::scenario, time, trace::no_task, 0, target.id);
}

// Where the calendar has to have the task now.
void Partition::reschedule(TaskState& task) noexcept {
  if (task.busy) {
    return;
  }
  const auto next = task.next_release();
  if (!next) {
    displace(task);
    return;
  }
  if (target_->watches.empty()) {
    place(task, next->time);  // as a rule: no look at what lies elsewhere in memory
    return;
  }
  place(task, time_of_next(*target_, task.index, next->time));
  if (!target_->by_reader[task.index].empty()) {
    request_data(task, next->time);
  }
}

void Partition::request_data(const TaskState& reader, TimePoint release) noexcept {
  for (AgeWatch* watch : target_->by_reader[reader.index]) {
    if (request_sample(*watch, target_->scenario->parameters(reader.index), release)) {
      TaskState& source = task(*watch->constraint->source);
      source.partition.load()->announce(source);
    }
  }
}

std::optional<Job> Partition::release(TaskState& task, TimePoint now,
                                      trace::Recorder& recorder) noexcept {
  const auto next = task.next_release();
  Job job;
  if (next && next->time <= now) {
    job = target_->scenario->job(task.index, next->index, next->time);
    if (task.kind == sched::TaskKind::timer) {
      task.timer.take();
    } else {
      task.messages.take();
    }
  } else if (!next || !release_early(task, now, job, recorder)) {
    reschedule(task);
    return {};
  }
  displace(task);
  task.busy = true;
  task.under = target_;
  task.counters.releases.add(1);
  recorder.record(EventType::release, job.release, task.index, job.index,
                  job.deadline == TimePoint::max() ? trace::no_deadline : count_of(job.deadline));
  return job;
}

bool Partition::release_early(TaskState& source, TimePoint now, Job& job,
                              trace::Recorder& recorder) noexcept {
  const auto early = executor::release_early(*target_, source.index, source.timer, now);
  if (!early) {
    return false;
  }
  job = early->job;
  source.counters.early_releases.add(1);
  recorder.record(EventType::early_release, job.release, source.index, job.index,
                  count_of(early->regular.time));
  return true;
}

void Partition::finish(std::unique_lock<PriorityMutex>& lock, TaskState& task, TimePoint ended,
                       trace::Recorder& recorder) noexcept {
  const Skipped skipped = task.kind == sched::TaskKind::timer ? task.timer.end_of_job(ended)
                                                              : task.messages.end_of_job(ended);
  count_skipped(task, skipped, recorder);
  task.busy = false;
  reschedule(task);
  if (skipped.count != 0 && shared_.options.handlers.skip) {
    lock.unlock();
    shared_.options.handlers.skip(
        {.task = task.index, .first = skipped.first.index, .count = skipped.count});
    lock.lock();
  }
}

void Partition::count_skipped(TaskState& task, const Skipped& skipped,
                              trace::Recorder& recorder) noexcept {
  if (skipped.count == 0) {
    return;
  }
  task.counters.releases.add(skipped.count);
  task.counters.skipped.add(skipped.count);
  recorder.record(EventType::skip, skipped.first.time, task.index, skipped.first.index,
                  static_cast<std::int64_t>(skipped.count));
}

}  // namespace takt::executor
