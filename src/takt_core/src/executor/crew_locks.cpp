// SPDX-License-Identifier: Apache-2.0
//
// Jobs that raise their ceiling while they hold a lock (lock.hpp): the core's state starts none up
// to it meanwhile.
#include <algorithm>

#include "crew.hpp"

namespace takt::executor {

using sched::Level;

constinit thread_local Crew* Crew::here_ = nullptr;
constinit thread_local Crew::Worker* Crew::me_ = nullptr;

Level Crew::raise_ceiling(const std::string* lock) noexcept {
  return here_ == nullptr ? sched::no_ceiling : here_->raise_ceiling(*me_, lock);
}

void Crew::lower_ceiling(Level before) noexcept {
  if (here_ != nullptr) {
    here_->lower_ceiling(*me_, before);
  }
}

Level Crew::raise_ceiling(const Worker& me, const std::string* lock) noexcept {
  const std::lock_guard guard{mutex_};
  if (me.task == nullptr) {
    return sched::no_ceiling;  // a handler that runs without a job
  }
  const Level ceiling = lock == nullptr ? sched::infinite_ceiling : ceiling_of(*lock);
  const Level before = state_->raise(*me.task, ceiling);
  // Whoever cannot start meanwhile wakes nobody: it is looked for at the end.
  publish(standby_.load(std::memory_order_relaxed), state_->threshold());
  return before;
}

// As of a group (sched/srp.hpp).
Level Crew::ceiling_of(const std::string& lock) const noexcept {
  const sched::Ceilings& ceilings = state_->target()->scenario->ceilings();
  Level highest = sched::no_ceiling;
  for (const sched::CoreTask* const member : state_->members()) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): there are no others here
    const auto& task = static_cast<const TaskState&>(*member);
    if (std::ranges::find(task.locks, lock) != task.locks.end()) {
      highest = std::max(highest, ceilings.boosted_level(task.index));
    }
  }
  const bool is_known = highest != sched::no_ceiling && ceilings.has_levels();
  return is_known ? highest : sched::infinite_ceiling;
}

void Crew::lower_ceiling(Worker& me, Level before) noexcept {
  Worker* late = nullptr;
  {
    const std::lock_guard guard{mutex_};
    if (me.task == nullptr || !state_->lower(*me.task, before)) {
      return;
    }
    recorder_ = &me.recorder;
    TimePoint now{};
    do {
      publish(has_sleeper(me), state_->threshold());
      catch_up();
      now = os::now();
      state_->release_due(now);
    } while (news());
    TimePoint idle_until = TimePoint::max();
    const bool one_starts = state_->choose(now, idle_until) != nullptr;
    const Need need{
        .time = one_starts ? TimePoint::min() : std::min(state_->next_look(), next_alarm()),
        .above = running_priority()};
    late = see_to(need, me);
    watch_.of = nullptr;
  }
  if (late != nullptr) {
    late->event.notify();
  }
}

}  // namespace takt::executor
