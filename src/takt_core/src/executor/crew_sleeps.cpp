// SPDX-License-Identifier: Apache-2.0
//
// Jobs that sleep: a core's other jobs of the same level wait behind them, although nobody
// computes.
#include <algorithm>
#include <ctime>

#include "crew.hpp"
#include "takt/os/saturating.hpp"
#include "takt/os/usage.hpp"

namespace takt::executor {
namespace {

// What is shorter holds nobody up for long.
constexpr std::chrono::milliseconds least_sleep{1};
// The kernel is asked, which takes microseconds, also when no job is long: what a thread has
// computed, or has waited for its core, since then counts as if the job had. So it is asked after
// so much of its own time, which is all of that but for its wake-ups; because of those, after so
// much time in any case.
constexpr std::chrono::milliseconds most_awake{5};
constexpr std::chrono::milliseconds between_counts{50};

std::chrono::nanoseconds cpu_time_of_thread() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

std::chrono::nanoseconds Crew::sleep_of_job(Worker& me, TimePoint started,
                                            TimePoint ended) const noexcept {
  if (!shared_.handlers.held_up || own_crew_ != nullptr) {
    return {};
  }
  me.counted.awake_since += ended - started;
  if (ended - started < least_sleep && me.counted.awake_since < most_awake &&
      ended - me.counted.at < between_counts) {
    return {};
  }
  return count_sleep(me, started, ended);
}

std::chrono::nanoseconds Crew::count_sleep(Worker& me, TimePoint started,
                                           TimePoint ended) noexcept {
  const auto run_delay = os::run_delay();
  if (!run_delay) {
    return {};
  }
  const Counted before = me.counted;
  me.counted = {.at = ended, .busy = cpu_time_of_thread() + *run_delay};
  return (ended - started) - (me.counted.busy - before.busy);
}

void Crew::look_for_hold_up(Worker& me, const Job& job, TimePoint started, TimePoint ended,
                            std::chrono::nanoseconds slept,
                            std::unique_lock<PriorityMutex>& lock) noexcept {
  if (slept < least_sleep && ended <= job.deadline) {
    return;  // as a rule
  }
  report_hold_up(me, job, started, ended, slept, lock);
}

void Crew::report_hold_up(Worker& me, const Job& job, TimePoint started, TimePoint ended,
                          std::chrono::nanoseconds slept,
                          std::unique_lock<PriorityMutex>& lock) noexcept {
  const Sleep last = last_sleep_;
  if (slept >= least_sleep) {
    last_sleep_ = {.task = job.task, .from = started, .to = ended, .length = slept};
  }
  if (ended <= job.deadline || last.task == job.task) {
    return;
  }
  const auto waited = os::sub_sat(std::min(started, last.to), std::max(job.release, last.from));
  if (std::min<std::chrono::nanoseconds>(waited, last.length) < os::sub_sat(ended, job.deadline)) {
    return;
  }
  TaskState& state = task(job.task);
  ++state.reporters;  // its job has ended: it could go, and another one take its place
  lock.unlock();
  shared_.handlers.held_up(
      {.task = job.task, .job = job.index, .by = last.task, .slept = last.length});
  lock.lock();
  me.now_is_fresh = false;
  --state.reporters;
  shared_.progress();
  recorder_ = &me.recorder;
}

}  // namespace takt::executor
