// SPDX-License-Identifier: Apache-2.0
//
// Jobs that have not ended when they should have: told by a thread that is up above them, when it
// happens, not when they end, which they may never do.
#include <algorithm>
#include <ctime>

#include "takt/executor/crew.hpp"
#include "takt/executor/overdue.hpp"

namespace takt::executor {
namespace {

// Looking takes the core from the job: it must get on in between.
constexpr std::chrono::microseconds least_gap{200};

std::chrono::nanoseconds time_of(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

TimePoint Crew::next_alarm() const noexcept {
  TimePoint next = TimePoint::max();
  for (const auto& started : state_->started()) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): there are no others here
    next = std::min(next, static_cast<const TaskState*>(started.task)->alarm);
  }
  return next;
}

void Crew::set_alarm(Worker& me, TaskState& state, const Job& job, TimePoint now) noexcept {
  state.alarm = TimePoint::max();
  state.miss_told.store(false, std::memory_order_relaxed);
  state.budget_told.store(false, std::memory_order_relaxed);
  const Handlers& handlers = shared_.handlers;
  if (!handlers.deadline_miss && !handlers.budget_overrun) {
    return;
  }
  if (alone_ != nullptr && alone_->binding.kernel_deadline) {
    return;  // nobody comes before it
  }
  if (handlers.deadline_miss) {
    state.alarm = job.deadline;
  }
  const auto budget = state.under->scenario->parameters(state.index).budget;
  if (handlers.budget_overrun && budget.count() > 0) {
    state.alarm = std::min(state.alarm, now + budget);
    me.cpu_before = time_of(CLOCK_THREAD_CPUTIME_ID);
  }
}

void Crew::tell_overdue(Worker& me, TimePoint now, std::unique_lock<PriorityMutex>& lock) noexcept {
  for (bool again = true; again;) {
    again = false;
    for (const auto& number : by_number_) {
      Worker* const worker = number.load(std::memory_order_relaxed);
      if (worker == nullptr) {
        break;
      }
      if (worker->task != nullptr && worker->task->alarm <= now) {
        tell_overdue(*worker, me.recorder, now, lock);
        again = true;  // without the mutex all may have changed, recorder_ too
      }
    }
  }
}

void Crew::tell_overdue(Worker& worker, trace::Recorder& recorder, TimePoint now,
                        std::unique_lock<PriorityMutex>& lock) noexcept {
  TaskState& state = *worker.task;
  const auto started = std::ranges::find(
      state_->started(), static_cast<const sched::CoreTask*>(&state),
      [](const auto& entry) { return static_cast<const sched::CoreTask*>(entry.task); });
  const Job job = started->job;
  const auto budget = state.under->scenario->parameters(state.index).budget;
  state.alarm = TimePoint::max();
  std::chrono::nanoseconds used{0};
  bool over_budget = false;
  if (shared_.handlers.budget_overrun && budget.count() > 0 && !state.budget_told.load()) {
    used = time_of(worker.cpu_clock) - worker.cpu_before;
    over_budget = used > budget;
    if (!over_budget) {
      state.alarm = now + std::max<std::chrono::nanoseconds>(budget - used, least_gap);
    }
  }
  const bool missed = shared_.handlers.deadline_miss && now > job.deadline;
  if (shared_.handlers.deadline_miss && !missed) {
    state.alarm = std::min(state.alarm, job.deadline + std::chrono::nanoseconds{1});
  }
  if (!missed && !over_budget) {
    return;
  }
  lock.unlock();
  if (missed) {
    tell_miss(shared_, state, job, now, true, recorder);
  }
  if (over_budget) {
    tell_budget_overrun(shared_, state, job, budget, used, now, true, recorder);
  }
  lock.lock();
}

}  // namespace takt::executor
