// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/age_requests.hpp"

#include <algorithm>

namespace takt::sched {
namespace {

using std::chrono::nanoseconds;

std::int64_t count_of(TimePoint time) noexcept {
  return time.time_since_epoch().count();
}

TimePoint time_of(std::int64_t count) noexcept {
  return TimePoint{nanoseconds{count}};
}

}  // namespace

bool request_sample(AgeWatch& watch, const TaskParameters& reader, TimePoint release) noexcept {
  const TimePoint at = release - watch.constraint->youngest;
  if (watch.asked == count_of(at)) {
    return false;
  }
  watch.asked = count_of(at);
  const nanoseconds slack =
      std::max(nanoseconds{0}, relative_deadline(reader) - reader.expected_execution);
  const TimePoint oldest = std::min(at, release + slack - watch.constraint->max_age);
  watch.oldest.store(count_of(oldest), std::memory_order_relaxed);
  watch.needed.store(count_of(release), std::memory_order_relaxed);
  watch.at.store(count_of(at), std::memory_order_release);
  return true;
}

TimePoint time_of_next(const Target& target, TaskIndex source, TimePoint release) noexcept {
  for (const AgeWatch* watch : target.by_source[source]) {
    release = std::min(release, time_of(watch->at.load(std::memory_order_acquire)));
  }
  return release;
}

std::optional<EarlyRelease> release_early(const Target& target, TaskIndex source,
                                          TimerReleases& timer, TimePoint now) noexcept {
  TimePoint earliest = TimePoint::max();
  TimePoint needed = TimePoint::max();
  const TimePoint sample = timer.taken() ? timer.taken()->time : TimePoint::min();
  for (const AgeWatch* watch : target.by_source[source]) {
    const TimePoint at = time_of(watch->at.load(std::memory_order_acquire));
    if (at <= now && sample < time_of(watch->oldest.load(std::memory_order_relaxed))) {
      earliest = std::min(earliest, at);
      needed = std::min(needed, time_of(watch->needed.load(std::memory_order_relaxed)));
    }
  }
  // Those that the first one of them does not serve ask for one more.
  const TimePoint newest = earliest == TimePoint::max() ? sample : earliest;
  for (AgeWatch* watch : target.by_source[source]) {
    if (time_of(watch->at.load(std::memory_order_acquire)) <= now &&
        newest >= time_of(watch->oldest.load(std::memory_order_relaxed))) {
      watch->at.store(count_of(TimePoint::max()), std::memory_order_relaxed);
    }
  }
  if (earliest == TimePoint::max()) {
    return {};
  }
  const Release regular = *timer.next();
  timer.advance_to(earliest);
  timer.take();
  Job job = target.scenario->job(source, regular.index, earliest);
  // Dynamic policies must not put the reader first. Not later than the reader is the best that can
  // be asked when the execution times are unknown.
  if (needed > earliest) {
    job.deadline = std::min(job.deadline, needed);
  }
  return EarlyRelease{.job = job, .regular = regular};
}

}  // namespace takt::sched
