// SPDX-License-Identifier: Apache-2.0
//
// A job that waits at most n times is ready to compute in at most n + 1 intervals, and while it
// waits nothing delays it. Each interval counts from when the demands above have last had nothing
// to compute: all of them that do not wait have then been released within it. If no other job of
// its own is pending, the response is at most the waiting and the length W of all intervals
// together, in which each demand above counts with the least of:
//
//  - its work in the whole response, as in suspension.hpp;
//  - its jobs in n + 1 intervals of the total length W, however they are divided;
//  - its work in each of these intervals, if all of C were computed there; where the lengths of the
//    segments are known, if a segment were.
//
// The first of them alone is the bound of suspension.hpp, so this one is never above it. What a
// long wait costs are the jobs that overlap with its ends, and not those within it: as where the
// intervals are bounded one by one (G. Nelissen et al., "Timing analysis of fixed priority
// self-suspending sporadic tasks", ECRTS 2015; errors of earlier such bounds: K. Bletsas et al.,
// "Errata for three papers (2004-05) on fixed-priority scheduling with self-suspensions", Leibniz
// Transactions on Embedded Systems 5, 2018), but for any division of C.
//
// The work of a demand above is that of its jobs, and at most that of its segments, where their
// lengths are known (segment_work.hpp). This helps demands that do not wait, too.
#pragma once

#include <optional>
#include <span>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// The response of demand `own`. `delayed`: the demands as as_delayed_by_waits() returns them;
// `responses`: bounds for all. None if neither the number of its waits has a bound nor any segments
// are known, if it may still be at work at its next release, or if the supply comes and goes; and
// for a demand that does not wait, if less urgent jobs may keep it from the core.
Response response_by_intervals(std::span<const Demand> demands, std::span<const Demand> delayed,
                               std::size_t own, std::span<const Response> responses,
                               const Supply& supply, Effort& effort);

}  // namespace takt::analysis
