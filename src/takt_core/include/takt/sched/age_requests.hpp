// SPDX-License-Identifier: Apache-2.0
//
// Keeping data young: a reader asks the source of its data for a job in time, the source is
// released early for it. No thread and no clock: the executor and the simulator decide by these.
#pragma once

#include <optional>

#include "takt/sched/compiled_application.hpp"
#include "takt/sched/releases.hpp"

namespace takt::sched {

// The reader's job that is released at `release` needs data that is young enough wherever it starts
// in time; a sample at `watch.at` is in the topic when the reader is released. False when exactly
// that was asked already, otherwise the source is to be told.
bool request_sample(AgeWatch& watch, const TaskParameters& reader, TimePoint release) noexcept;

// When the source is to be looked at: its next release, or an earlier request.
TimePoint time_of_next(const Target& target, TaskIndex source, TimePoint release) noexcept;

struct EarlyRelease {
  Job job;
  Release regular;  // in whose place it comes
};

// Takes up the requests that have come to `now`, and releases the source for the first of those
// that no earlier sample serves; the others wait for its end unless it serves them, too. Nothing
// when there are none.
std::optional<EarlyRelease> release_early(const Target& target, TaskIndex source,
                                          TimerReleases& timer, TimePoint now) noexcept;

}  // namespace takt::sched
