// SPDX-License-Identifier: Apache-2.0
//
// Of each demand above that suspends itself, one of two things delays a demand: that its work of an
// earlier release comes late (jitter, see suspension.hpp), or that it waits while it is not done
// (blocking). Each choice for all of them together gives a bound (J.-J. Chen, G. Nelissen and
// W.-H. Huang, "A unifying response time analysis framework for dynamic self-suspending tasks",
// ECRTS 2016, theorem 1); the least counts.
//
// Why it holds where a demand counts as blocking: look back from the release of the job to that of
// the job of demand j that is not done by then, and from there on to the next demand above. In
// between only demands from j upwards compute, but for the S of that one job. So the jobs of all
// from j upwards count in an interval that is longer by S, and the job of j has no jitter.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// The demands above that count as blocking; all others that wait count as jitter.
using Blocking = std::vector<std::size_t>;

// The choices worth a look for demand `own`, besides that of no blocking at all: every one, if they
// are few, otherwise about as many as demands wait above. `responses` are bounds for all demands.
// None where the theorem does not hold: groups, an equal priority, a supply that comes and goes.
std::vector<Blocking> choices_of_blocking(std::span<const Demand> demands, std::size_t own,
                                          std::span<const Response> responses,
                                          const Supply& supply);

// `delayed`, the demands as as_delayed_by_waits() returns them, with this choice. A bound that
// follows from them holds if it is not above the least distance of the releases of `own`.
std::vector<Demand> with_blocking(std::span<const Demand> demands, std::span<const Demand> delayed,
                                  std::size_t own, const Blocking& blocking);

// The least distance between two releases.
nanoseconds least_distance(const Demand& demand) noexcept;

}  // namespace takt::analysis
