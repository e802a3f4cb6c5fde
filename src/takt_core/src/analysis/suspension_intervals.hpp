// SPDX-License-Identifier: Apache-2.0
//
// A job that waits at most n times is ready to compute in at most n + 1 intervals, and while it
// waits nothing delays it. Each interval counts from when the demands above have last had nothing
// to compute: all of them that do not wait have then been released within it. If no other job of
// its own is pending, the response is at most the waiting and the length W of all intervals
// together, in which each demand above counts with the least of:
//
//  - its jobs in the whole response, as in suspension.hpp;
//  - its jobs in n + 1 intervals of the total length W, however they are divided;
//  - its jobs in each of these intervals, if all of C were computed there.
//
// The first of them alone is the bound of suspension.hpp, so this one is never above it. What a
// long wait costs are the jobs that overlap with its ends, and not those within it: as where the
// intervals are bounded one by one (G. Nelissen et al., "Timing analysis of fixed priority
// self-suspending sporadic tasks", ECRTS 2015; errors of earlier such bounds: K. Bletsas et al.,
// "Errata for three papers (2004-05) on fixed-priority scheduling with self-suspensions", Leibniz
// Transactions on Embedded Systems 5, 2018), but for any division of C.
#pragma once

#include <optional>
#include <span>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// A bound on the response of demand `own`. `delayed`: the demands as as_delayed_by_waits() returns
// them. None if it does not wait or the number of its waits has no bound, if it may still be at
// work at its next release, or if the supply comes and goes.
std::optional<nanoseconds> response_by_intervals(std::span<const Demand> demands,
                                                 std::span<const Demand> delayed, std::size_t own,
                                                 const Supply& supply, Effort& effort);

}  // namespace takt::analysis
