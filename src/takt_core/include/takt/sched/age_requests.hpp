// SPDX-License-Identifier: Apache-2.0
//
// Keeping data young: a reader asks the source of its data for a sample. A regular release of the
// source that comes in time serves; else one is brought forward to where its sample begins to be of
// use. It has the source's own priority, and runs when nobody above has anything to do. Only where
// it is not done when it has to be, so that the data is there when the reader is released, it is
// boosted to the reader's priority, as late as that; a job that is in its way likewise. No thread
// and no clock: the executor and the simulator decide by these.
#pragma once

#include "takt/sched/compiled_application.hpp"
#include "takt/sched/releases.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

// The reader's job that is released at `release` needs data that is young enough wherever it starts
// in time (AgeConstraint::latest_start). False when exactly that was asked already, otherwise the
// source is to be told.
TAKT_CORE_PUBLIC bool request_sample(AgeWatch& watch, TimePoint release) noexcept;

// A job of the source that was released at `sample` has ended.
TAKT_CORE_PUBLIC void forget_served(const Target& target, TaskIndex source,
                                    TimePoint sample) noexcept;

// When a job of the source that has not ended has to be boosted; the end of time: not at all.
TAKT_CORE_PUBLIC TimePoint time_of_request(const Target& target, TaskIndex source) noexcept;

struct Early {
  TimePoint time = TimePoint::max();    // of the release; the end of time: none
  TimePoint needed = TimePoint::max();  // when the first one who asked is released
};

// The release of the source that has to come before its regular one at `regular`.
TAKT_CORE_PUBLIC Early time_of_early(const Target& target, TaskIndex source,
                                     TimePoint regular) noexcept;

// Makes its job; the regular releases go on from there.
TAKT_CORE_PUBLIC Job release_early(const Target& target, TaskIndex source, TimerReleases& timer,
                                   const Early& early) noexcept;

}  // namespace takt::sched
