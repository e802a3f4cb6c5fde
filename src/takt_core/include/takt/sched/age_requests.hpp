// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keeps data young: a reader requests a sample from the source of its data. A regular release of
/// the source that comes in time satisfies the request; otherwise a release is brought forward to
/// the moment from which its sample is useful. The early job keeps the priority of the source, so
/// it runs when no more urgent job does. Only if it has not ended by the latest time at which it
/// can still be ready for the reader's release is it boosted to the reader's priority; a job that
/// blocks it is boosted likewise. These functions use no thread and no clock: executor and
/// simulator share them.
#pragma once

#include "takt/sched/compiled_application.hpp"
#include "takt/sched/releases.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

/// Requests data for the reader's job with the given release, young enough even if that job starts
/// as late as it may (AgeConstraint::latest_start).
/// @return true if the source must be notified; false if exactly this was requested already.
TAKT_CORE_PUBLIC bool request_sample(AgeWatch& watch, TimePoint release) noexcept;

/// Withdraws the requests that are satisfied by the job of `source` that was released at `sample`
/// and has ended.
TAKT_CORE_PUBLIC void forget_served(const Target& target, TaskIndex source,
                                    TimePoint sample) noexcept;

/// When a job of `source` that has not ended must be boosted; TimePoint::max(): never.
TAKT_CORE_PUBLIC TimePoint time_of_request(const Target& target, TaskIndex source) noexcept;

/// An early release.
struct Early {
  TimePoint time = TimePoint::max();    ///< When to release; TimePoint::max(): no early release.
  TimePoint needed = TimePoint::max();  ///< The release of the first reader that requested it.
};

/// The release of `source` that must come before its regular release at `regular`, if any.
TAKT_CORE_PUBLIC Early time_of_early(const Target& target, TaskIndex source,
                                     TimePoint regular) noexcept;

/// Makes the job of an early release; its deadline is at most the release of the reader, so that
/// dynamic policies do not run the reader first. The regular releases continue from there.
TAKT_CORE_PUBLIC Job release_early(const Target& target, TaskIndex source, TimerReleases& timer,
                                   const Early& early) noexcept;

}  // namespace takt::sched
