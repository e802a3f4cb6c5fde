// SPDX-License-Identifier: Apache-2.0
//
// Jobs that have not ended when they should have: told by a thread that is up above them, when it
// happens, not when they end, which they may never do.
#include <algorithm>

#include "crew.hpp"
#include "overdue.hpp"
#include "takt/os/saturating.hpp"

namespace takt::executor {
namespace {

// Looking takes the core from the job: it must get on in between.
constexpr std::chrono::nanoseconds least_gap = std::chrono::microseconds{200};

// When a job with this deadline is late.
TimePoint late_from(const Job& job) noexcept {
  return os::add_sat(job.deadline, std::chrono::nanoseconds{1});
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

void Crew::set_alarm(TaskState& state, const Job& job, TimePoint now) noexcept {
  state.alarm = TimePoint::max();
  state.miss_reported = false;
  state.budget_reported = false;
  const Handlers& handlers = shared_.handlers;
  if (!handlers.deadline_miss && !handlers.budget_overrun) {
    return;
  }
  if (own_crew_ != nullptr && own_crew_->binding.kernel_deadline) {
    return;  // nobody comes before it
  }
  if (handlers.deadline_miss) {
    state.alarm = late_from(job);
  }
  const auto budget = state.under->scenario->parameters(state.index).budget;
  if (handlers.budget_overrun && budget.count() > 0) {
    state.alarm = std::min(state.alarm, os::add_sat(now, budget));
  }
}

void Crew::notify_overdue(Worker& me, TimePoint now,
                          std::unique_lock<PriorityMutex>& lock) noexcept {
  for (bool again = true; again;) {
    again = false;
    for (const auto& number : by_number_) {
      Worker* const worker = number.load(std::memory_order_relaxed);
      if (worker == nullptr) {
        break;
      }
      if (worker->task != nullptr && worker->task->alarm <= now) {
        notify_overdue(*worker, me.recorder, now, lock);
        again = true;  // without the mutex all may have changed, recorder_ too
      }
    }
  }
}

void Crew::notify_overdue(Worker& worker, trace::Recorder& recorder, TimePoint now,
                          std::unique_lock<PriorityMutex>& lock) noexcept {
  TaskState& state = *worker.task;
  const Handlers& handlers = shared_.handlers;
  const auto budget = state.under->scenario->parameters(state.index).budget;
  Sighting sighting{.time = now, .running = true};
  if (handlers.budget_overrun && budget.count() > 0) {
    sighting.used = worker.progress.used(worker.cpu_clock);
  }
  state.alarm = TimePoint::max();
  if (worker.progress.ends()) {
    return;
  }
  const auto started = std::ranges::find(
      state_->started(), static_cast<const sched::CoreTask*>(&state),
      [](const auto& entry) { return static_cast<const sched::CoreTask*>(entry.task); });
  const Overdue overdue = take_overdue(handlers, state, started->job, budget, sighting, recorder);
  if (handlers.deadline_miss && !state.miss_reported) {
    state.alarm = late_from(started->job);
  }
  if (handlers.budget_overrun && budget.count() > 0 && !state.budget_reported) {
    const auto rest = std::max(os::sub_sat(budget, sighting.used), least_gap);
    state.alarm = std::min(state.alarm, os::add_sat(now, rest));
  }
  if (!overdue.any()) {
    return;
  }
  ++state.reporters;
  lock.unlock();
  notify(handlers, overdue);
  lock.lock();
  --state.reporters;
  shared_.progress();
}

}  // namespace takt::executor
