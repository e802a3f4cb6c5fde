// SPDX-License-Identifier: Apache-2.0
//
// Idle-time insertion for non-preemptive policies. A job that starts now keeps the core until it
// has ended; would that make a job late that is still to be released? Let S_k be the execution
// times of the jobs that count, with deadlines up to d_k, and r_k the first release of these. Job
// J, which takes C_J, makes them late if, for some k,
//
//   r_k + S_k <= d_k  but  t + C_J + S_k > d_k.
//
// The right half, for all k, is the published rule: J may start up to min_k (d_k - S_k) - C_J,
// which is the latest start of Nasri & Fohler (ECRTS 2016), in the form of Nasri & Brandenburg
// (RTSS 2017), unrolled. The left half adds what an executor needs where deadlines are lost: idling
// for jobs that are late in either case would only lose more time. Neither half becomes false
// before the first of these releases, so nobody needs to ask again until then.
#pragma once

#include <algorithm>
#include <span>

#include "takt/os/saturating.hpp"
#include "takt/sched/policy.hpp"

namespace takt::sched {

// S_k and r_k.
struct WorkUntil {
  nanoseconds work{0};
  TimePoint begins = TimePoint::max();
};

// Of the jobs that count with deadlines up to that of `last`.
template <class Counts>
WorkUntil work_until(const Job& last, std::span<const Job> next, Counts counts) noexcept {
  WorkUntil result;
  for (const Job& other : next) {
    if (counts(other) && other.deadline <= last.deadline) {
      result.work = os::add_sat(result.work, other.expected_execution);
      result.begins = std::min(result.begins, other.release);
    }
  }
  return result;
}

// The published rule: min_k (d_k - S_k) - C_J.
template <class Counts>
TimePoint latest_start_before(const Job& job, std::span<const Job> next, Counts counts) noexcept {
  TimePoint latest = TimePoint::max();
  for (const Job& last : next) {
    if (counts(last)) {
      const nanoseconds work =
          os::add_sat(work_until(last, next, counts).work, job.expected_execution);
      latest = std::min(latest, os::sub_sat(last.deadline, work));
    }
  }
  return latest;
}

// The executor's rule, with both halves.
template <class Counts>
bool makes_late(const Job& job, TimePoint time, std::span<const Job> next, Counts counts) noexcept {
  for (const Job& last : next) {
    if (!counts(last)) {
      continue;
    }
    const auto [work, begins] = work_until(last, next, counts);
    const bool kept_without = os::add_sat(std::max(time, begins), work) <= last.deadline;
    const TimePoint with = os::add_sat(os::add_sat(time, work), job.expected_execution);
    if (kept_without && with > last.deadline) {
      return true;
    }
  }
  return false;
}

// Leaves the core idle until the first release of a job that comes before `job`: the first one that
// can change the decision.
inline Decision wait_for_better(const Policy& policy, const Job& job,
                                std::span<const Job> next) noexcept {
  Decision decision{.job = Decision::none, .idle_until = TimePoint::max()};
  for (const Job& other : next) {
    if (other.release < decision.idle_until && policy.before(other, job)) {
      decision.idle_until = other.release;
    }
  }
  return decision;
}

}  // namespace takt::sched
