// SPDX-License-Identifier: Apache-2.0
//
// Earliest deadline first, preemptive or not, with exclusive groups, jitter and any deadlines.
//
//  - Demand: h(t) + B(t) <= t for all t, where h is the processor demand (Baruah, Rosier & Howell
//    1990), walked downwards by quick processor-demand analysis (Zhang & Burns 2009), between the
//    steps of B. B is the stack resource policy's blocking (Baker 1991; Baruah 2006), or that of
//    jobs that are not preempted (Jeffay, Stanat & Martel 1991; George, Rivierre & Spuri 1996).
//  - Response times: Spuri 1996, not preemptive George, Rivierre & Spuri 1996.
#pragma once

#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

// `preemptive`: ceilings of the demands count; otherwise a started job keeps the core.
struct DemandTest {
  enum class Outcome : std::uint8_t { met, exceeded, unknown };  // unknown: too much to compute
  Outcome outcome = Outcome::unknown;
  nanoseconds at{0};  // exceeded: the length of an interval in which more is demanded than fits
};

TAKT_CORE_PUBLIC DemandTest edf_demand(std::span<const Demand> demands, bool preemptive,
                                       Effort& effort);

// One for each demand, in their order; none is found when the demands take more time than there is,
// or when `effort` is used up.
TAKT_CORE_PUBLIC std::vector<Response> edf_responses(std::span<const Demand> demands,
                                                     bool preemptive, Effort& effort);

}  // namespace takt::analysis
