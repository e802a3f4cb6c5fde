// SPDX-License-Identifier: Apache-2.0
//
// What the threads of a crew do: look, decide, run, sleep.
#include "crew.hpp"

#include <sched.h>

#include <algorithm>

#include "overdue.hpp"
#include "takt/os/saturating.hpp"

namespace takt::executor {
namespace {

using sched::infinite_ceiling;
using sched::Level;
using sched::no_ceiling;

}  // namespace

template <class Visit>
void Crew::each_sleeper(const Worker& me, Visit visit) const noexcept {
  for (const auto& number : by_number_) {
    // NOLINTNEXTLINE(misc-const-correctness): some visitors change it
    Worker* const worker = number.load(std::memory_order_relaxed);
    if (worker == nullptr) {
      return;
    }
    if (worker != &me && worker->asleep) {
      visit(*worker);
    }
  }
}

// With all that it calls: between two jobs lie some sixty functions, most of them shorter
// than a call.
[[gnu::flatten]] void Crew::run(Worker& me) noexcept {
  std::unique_lock lock{mutex_};
  TimePoint now = read_clock(me);
  while (!stopping()) {
    if (now >= shared_.end.load(std::memory_order_relaxed)) {
      shared_.request_stop();
      break;
    }
    recorder_ = &me.recorder;
    catch_up();
    if (next_alarm() <= now) {
      notify_overdue(me, now, lock);
      now = read_clock(me);
      continue;  // a handler may have asked for a stop
    }
    if (own_crew_ != nullptr && asked_kernel_for_ != state_->target()) {
      ask_kernel();
    }
    state_->release_due(now);
    TimePoint idle_until = TimePoint::max();
    if (const Job* const chosen = state_->choose(now, idle_until)) {
      run_first(me, *chosen, lock, now);
    } else {
      sleep(me, idle_until, lock, now);
    }
  }
}

void Crew::run_first(Worker& me, const Job& chosen, std::unique_lock<PriorityMutex>& lock,
                     TimePoint& now) noexcept {
  TaskState& state = task(chosen.task);
  const int priority = priority_for(me, chosen);
  const Level threshold = state_->threshold_above(chosen);
  const std::size_t above = state_->count_above(threshold);
  set_alarm(state, chosen, now);
  const bool may_follow = !fixed_ && threshold != infinite_ceiling;
  const bool watched = above > 0 || may_follow || state.alarm != TimePoint::max();
  const TimePoint release =
      above > 0 ? state_->calendar().first_time_below(above) : TimePoint::max();
  const Need need{.time = std::min(release, state.alarm), .above = priority};
  // Of jobs that follow each other without a sleep, most need the same.
  const bool is_watched = watched && watch_.of == &me && watch_.need == need;
  Worker* standby = nullptr;
  if (watched) {
    standby = is_watched ? watch_.standby : has_sleeper(me);
  }
  publish(standby, threshold);
  if (news()) {
    state.alarm = TimePoint::max();
    me.now_is_fresh = false;
    return;  // somebody may have looked before; decide again
  }
  Worker* late = nullptr;
  if (standby != nullptr && !is_watched) {
    late = see_to(need, me);
    if (standby->priority <= priority) {
      set_priority(*standby, priority + 1);
    }
    watch_ = {.of = late == nullptr ? &me : nullptr, .need = need, .standby = standby};
  }
  me.task = &state;
  me.progress.reset(state.alarm != TimePoint::max());
  state.run_priority = priority;
  const Job job = state_->start(chosen).job;  // its place is another one's when jobs come above it
  const Target& target = *state.under;
  const bool at_once = me.now_is_fresh && late == nullptr && has_priority(me, priority);
  lock.unlock();
  if (late != nullptr) {
    late->event.notify();
  }
  take_priority(me, priority);
  take_priority(me, state.run_priority);  // somebody may have boosted it meanwhile
  const TimePoint started = now;
  const Ended end =
      run_job(shared_, state, job, target, me.recorder, me.progress, at_once ? now : not_decided);
  now = end.time;
  const auto slept = sleep_of_job(me, started, now);
  me.now_is_fresh = lock.try_lock();
  if (!me.now_is_fresh) {
    lock.lock();
  }
  finish(me, state, job, end, lock);
  if (shared_.handlers.held_up) {
    look_for_hold_up(me, job, started, now, slept, lock);
  }
}

void Crew::finish(Worker& me, TaskState& state, const Job& job, const Ended& end,
                  std::unique_lock<PriorityMutex>& lock) noexcept {
  recorder_ = &me.recorder;
  state.alarm = TimePoint::max();
  const auto budget = state.under->scenario->parameters(state.index).budget;
  // As a rule nothing is to be told: no memory for it is cleared.
  if (end.time > job.deadline || budget.count() > 0) {
    const Overdue overdue = take_overdue(shared_.handlers, state, job, budget,
                                         {.time = end.time, .used = end.used}, me.recorder);
    settle(me, state, end.time, &overdue, lock);
  } else {
    settle(me, state, end.time, nullptr, lock);
  }
  me.task = nullptr;
  state_->end(state);
  shared_.progress();
}

void Crew::settle(Worker& me, TaskState& state, TimePoint ended, const Overdue* overdue,
                  std::unique_lock<PriorityMutex>& lock) noexcept {
  const Handlers& handlers = shared_.handlers;
  skipped_ = {};
  state_->settle(state, ended);
  const sched::Skipped skipped = skipped_;
  const bool reports_overdue = overdue != nullptr && overdue->any();
  const bool reports_skip = skipped.count != 0 && handlers.skip;
  if (reports_overdue || reports_skip) {
    lock.unlock();  // it belongs to the job
    if (reports_overdue) {
      notify(handlers, *overdue);
    }
    if (reports_skip) {
      handlers.skip({.task = state.index, .first = skipped.first.index, .count = skipped.count});
    }
    lock.lock();
    me.now_is_fresh = false;
    recorder_ = &me.recorder;
  }
}

void Crew::sleep(Worker& me, TimePoint idle_until, std::unique_lock<PriorityMutex>& lock,
                 TimePoint& now) noexcept {
  TimePoint until = TimePoint::max();
  Level threshold = no_ceiling;
  if (state_->target() != nullptr) {
    threshold = state_->threshold();
    const TimePoint alarm = next_alarm();
    Need need{.time = std::min({state_->next_look(), idle_until, alarm}),
              .above = running_priority()};
    until = need.time;
    if (until != TimePoint::max() && watching(need, me) > 0) {
      // Later releases are nobody's concern yet.
      need.time =
          preempts_ || alarm != TimePoint::max() ? time_after(until, threshold) : TimePoint::max();
      until = watching(need, me) > 1 ? TimePoint::max() : need.time;
    }
  }
  // Who sleeps without an end does so above all others, and is the one to be woken.
  Worker* const other = until == TimePoint::max() ? nullptr : has_sleeper(me);
  publish(other != nullptr && other->until == TimePoint::max() ? other : &me, threshold);
  if (news()) {
    return;
  }
  take_priority(me, sleeping_priority(me, until, threshold));
  me.until = until;
  me.asleep = true;
  watch_.of = nullptr;
  lock.unlock();
  me.event.wait_until(until);
  lock.lock();
  me.asleep = false;
  watch_.of = nullptr;
  now = read_clock(me);
}

TimePoint Crew::read_clock(Worker& me) noexcept {
  me.now_is_fresh = true;
  return os::now();
}

// Sees that somebody sleeps until that time at the latest, at a sufficient priority, and that
// nobody is up earlier at one. Where nobody is up in time, the thread that is returned has to be
// woken.
Crew::Worker* Crew::see_to(const Need& need, const Worker& me) noexcept {
  const bool needed = need.time != TimePoint::max();
  const auto is_up = [&](const Worker& worker) {
    return worker.until <= need.time && worker.until != TimePoint::max();
  };
  Worker* in_time = nullptr;
  each_sleeper(me, [&](Worker& worker) {
    if (needed && is_up(worker) && (in_time == nullptr || worker.until >= in_time->until)) {
      in_time = &worker;
    }
  });
  each_sleeper(me, [&](Worker& worker) {
    if (is_up(worker) && &worker != in_time && worker.priority > need.above) {
      set_priority(worker, need.above);
    }
  });
  Worker* const watcher = in_time != nullptr || !needed ? in_time : has_sleeper(me);
  if (watcher == nullptr) {
    return nullptr;
  }
  if (watcher->priority <= need.above) {
    set_priority(*watcher, need.above + 1);
  }
  if (watcher == in_time) {
    return nullptr;
  }
  watcher->until = TimePoint::min();
  return watcher;
}

// The one that sleeps the longest, because it has nothing else to be up for.
Crew::Worker* Crew::has_sleeper(const Worker& me) const noexcept {
  Worker* best = nullptr;
  each_sleeper(me, [&](Worker& worker) {
    best = best == nullptr || worker.until > best->until ? &worker : best;
  });
  return best;
}

// How many are up by then, without me.
std::size_t Crew::watching(const Need& need, const Worker& me) const noexcept {
  std::size_t count = 0;
  each_sleeper(me, [&](const Worker& worker) {
    const bool heard = !worker.real_time || worker.priority > need.above;
    count += worker.until <= need.time && heard ? 1 : 0;
  });
  return count;
}

// Of what follows the first one at once, only what comes before it: the rest is found by whoever is
// up for the first one, and a second thread would wake up for nothing. Later releases have a thread
// of their own: its timer lies behind another one, which costs the kernel less than to set the next
// one. Not before a period later, because what is released first is released again then.
TimePoint Crew::time_after(TimePoint first, Level threshold) const noexcept {
  constexpr std::chrono::microseconds at_once{30};
  const sched::Calendar& calendar = state_->calendar();
  const std::size_t above = state_->count_above(threshold);
  const std::uint32_t place = calendar.lowest_due(first, above);
  TimePoint next = TimePoint::max();
  if (place < above && state_->target()->scenario->ceilings().has_levels()) {
    const std::size_t before = state_->count_above(state_->roster().levels[place]);
    next = std::min(calendar.next_time_after(first, std::min(before, above)),
                    calendar.next_time_after(os::add_sat(first, at_once), above));
  } else {
    next = calendar.next_time_after(first, above);
  }
  return std::min(next, os::add_sat(first, shortest_period_));
}

void Crew::publish(Worker* standby, Level above) noexcept {
  // What has not changed has been looked at: sequentially consistent stores are not free.
  if (above_.load(std::memory_order_relaxed) != above) {
    above_.store(above);
  }
  if (standby_.load(std::memory_order_relaxed) != standby) {
    standby_.store(standby);
  }
}

// Of the job that has the core; below all of this crew's where there is none.
int Crew::running_priority() const noexcept {
  const auto* const running = state_->running();
  if (running != nullptr) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): there are no others here
    return static_cast<const TaskState*>(running->task)->run_priority;
  }
  return fixed_ ? 0 : shared_.options.base_priority - 1;
}

int Crew::priority_for(const Worker& me, const Job& job) const noexcept {
  if (fixed_) {
    const Level ceiling = state_->target()->scenario->ceilings().ceiling(job.task);
    return std::max(job.priority,
                    static_cast<int>(std::clamp<Level>(ceiling, 0, os::max_priority)));
  }
  // A change of the priority is not free: any will do that leaves room for those above.
  const int below = running_priority();
  const bool fits = me.priority > below && me.priority <= below + 2;
  return fits ? int{me.priority} : std::min(below + 1, os::max_priority);
}

int Crew::sleeping_priority(const Worker& me, TimePoint until, Level threshold) const noexcept {
  const int below = running_priority();
  if (!fixed_) {
    const bool fits = me.priority > below && me.priority <= below + 2;
    return fits ? int{me.priority} : std::min(below + 1, os::max_priority);
  }
  int priority = top_;
  if (until != TimePoint::max() && state_->target() != nullptr) {
    const std::size_t above = state_->count_above(threshold);
    const std::uint32_t place = state_->calendar().lowest_due(until, above);
    if (place < above) {
      priority = static_cast<int>(state_->roster().levels[place]);
    }
  }
  return std::min(std::max(priority, below + 1), os::max_priority);
}

// Of a thread that sleeps, which goes on sleeping.
void Crew::set_priority(Worker& worker, int priority) noexcept {
  const int possible = std::clamp(priority, os::min_priority, os::max_priority);
  if (worker.real_time && worker.priority != possible) {
    boost(worker, possible);
  }
}

void Crew::boost(Worker& worker, int priority) noexcept {
  if (worker.real_time) {
    const sched_param parameters{.sched_priority = priority};
    sched_setparam(worker.tid, &parameters);
    worker.priority = priority;
  }
}

}  // namespace takt::executor
