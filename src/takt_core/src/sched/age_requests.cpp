// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/age_requests.hpp"

#include <algorithm>

#include "takt/os/saturating.hpp"

namespace takt::sched {
namespace {

using std::chrono::nanoseconds;

std::int64_t count_of(TimePoint time) noexcept {
  return time.time_since_epoch().count();
}

constexpr std::int64_t nothing = INT64_MAX;  // is asked

TimePoint time_of(std::int64_t count) noexcept {
  return TimePoint{nanoseconds{count}};
}

}  // namespace

bool request_sample(AgeWatch& watch, TimePoint release) noexcept {
  const TimePoint at = os::sub_sat(release, watch.constraint->youngest);
  if (watch.asked == count_of(at)) {
    return false;
  }
  watch.asked = count_of(at);
  const TimePoint oldest = os::sub_sat(release, watch.constraint->longest_use());
  const TimePoint from = os::sub_sat(release, watch.constraint->lead());
  watch.oldest.store(count_of(oldest), std::memory_order_relaxed);
  watch.from.store(count_of(from), std::memory_order_relaxed);
  watch.needed.store(count_of(release), std::memory_order_relaxed);
  watch.at.store(count_of(at), std::memory_order_release);
  return true;
}

void forget_served(const Target& target, TaskIndex source, TimePoint sample) noexcept {
  for (AgeWatch* const watch : target.by_source[source]) {
    std::int64_t at = watch->at.load(std::memory_order_acquire);
    if (at != nothing && sample >= time_of(watch->oldest.load(std::memory_order_relaxed))) {
      // Not where the reader has asked for the next one meanwhile.
      watch->at.compare_exchange_strong(at, nothing);
    }
  }
}

TimePoint time_of_request(const Target& target, TaskIndex source) noexcept {
  std::int64_t first = nothing;
  for (const AgeWatch* const watch : target.by_source[source]) {
    first = std::min(first, watch->at.load(std::memory_order_acquire));
  }
  return time_of(first);
}

Early time_of_early(const Target& target, TaskIndex source, TimePoint regular) noexcept {
  Early early;
  for (const AgeWatch* const watch : target.by_source[source]) {
    const TimePoint at = time_of(watch->at.load(std::memory_order_acquire));
    if (at != TimePoint::max() && at < regular) {
      early.time = std::min(early.time, time_of(watch->from.load(std::memory_order_relaxed)));
      early.needed = std::min(early.needed, time_of(watch->needed.load(std::memory_order_relaxed)));
    }
  }
  return early;
}

Job release_early(const Target& target, TaskIndex source, TimerReleases& timer,
                  const Early& early) noexcept {
  const std::uint64_t index = timer.next()->index;
  timer.advance_to(early.time);
  timer.take();
  Job job = target.scenario->job(source, index, early.time);
  // Dynamic policies must not put the reader first. Not later than the reader is the best that can
  // be asked when the execution times are unknown.
  if (early.needed > early.time) {
    job.deadline = std::min(job.deadline, early.needed);
  }
  return job;
}

}  // namespace takt::sched
