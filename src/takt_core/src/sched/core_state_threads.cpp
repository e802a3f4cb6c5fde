// SPDX-License-Identifier: Apache-2.0
//
// Several threads that take jobs from one wait set, or groups in turn: see wait_result.hpp and
// group_turns.hpp.
#include <algorithm>
#include <utility>

#include "takt/os/saturating.hpp"
#include "takt/sched/core_state.hpp"

namespace takt::sched {
namespace {

// Ready for the wait set: also what is released again while its job runs.
bool is_ready(const CoreTask& task, TimePoint now) noexcept {
  if (task.phase != CoreTask::Phase::started) {
    return task.phase == CoreTask::Phase::pending;
  }
  const auto next = task.next_release();
  return next && os::add_sat(next->time, task.lateness == nullptr
                                             ? std::chrono::nanoseconds{0}
                                             : task.lateness(task, next->index)) <= now;
}

}  // namespace

void CoreState::share_among(std::size_t threads, std::vector<std::uint32_t> groups, bool in_turn) {
  in_rounds_ = true;  // timers drop releases as there
  depth_ = threads;
  if (in_turn) {
    turns_.emplace(groups);
  }
  result_.emplace(std::move(groups));
  started_.reserve(std::max(started_.capacity(), threads + 1));
}

// The task waits for its next release already while its job runs.
CoreTask& CoreState::free_runner(CoreTask& task) noexcept {
  CoreTask* runner = task.runner;
  while (runner->phase == CoreTask::Phase::started) {
    runner = runner->runner;
  }
  runner->under = task.under;
  task.phase = CoreTask::Phase::idle;
  return *runner;
}

bool CoreState::runs(std::uint32_t group) const noexcept {
  return group != 0 && std::ranges::any_of(started_, [group](const Started& started) {
           return started.task->group == group;
         });
}

void CoreState::find_ready(TimePoint now) noexcept {
  for (const CoreTask* const task : members_) {
    result_->find(task->index, is_ready(*task, now));
  }
}

// A free thread has looked again and again until then: what it may not take does not let it sleep,
// and what becomes ready wakes it.
void CoreState::look_until(TimePoint end) noexcept {
  if (std::exchange(looked_, end) != end && started_.size() < depth_) {
    find_ready(os::sub_sat(end, std::chrono::nanoseconds{1}));
    static_cast<void>(take_from_result());
  }
}

// What a free thread runs next; null: nothing that it may take is ready.
const Job* CoreState::take_for_thread(TimePoint now) noexcept {
  if (started_.size() >= depth_) {
    return nullptr;
  }
  if (turns_) {
    return turns_->take(ready_.jobs(),
                        [this](const Job& job) { return !runs(tasks_[job.task]->group); });
  }
  const Job* taken = take_from_result();
  for (bool again = true; taken == nullptr && again;) {
    result_->begin_wait([this](std::uint32_t group) { return runs(group); });
    find_ready(now);
    again = result_->end_wait();
    taken = take_from_result();
  }
  return taken;
}

const Job* CoreState::take_from_result() noexcept {
  const Job* const timer = take_from_result(TaskKind::timer);
  return timer != nullptr ? timer : take_from_result(TaskKind::message);
}

const Job* CoreState::take_from_result(TaskKind kind) noexcept {
  for (const TaskIndex index : result_->order()) {
    const CoreTask& task = *tasks_[index];
    if (task.kind != kind || !result_->has(index)) {
      continue;
    }
    if (task.phase == CoreTask::Phase::pending && !runs(task.group)) {
      const auto pending = ready_.jobs();
      return &*std::ranges::find(pending, index, &Job::task);
    }
    // Without a group, only its own job keeps it from being taken.
    if (kind == TaskKind::message && task.group != 0) {
      result_->remove(index);
    }
  }
  return nullptr;
}

}  // namespace takt::sched
