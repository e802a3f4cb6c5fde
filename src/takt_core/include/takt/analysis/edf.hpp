// SPDX-License-Identifier: Apache-2.0
/// @file
/// Earliest deadline first, preemptive or not, with exclusive groups, jitter and arbitrary
/// deadlines.
///
/// - Demand: h(t) + B(t) <= t for all t, where h is the processor demand (Baruah, Rosier & Howell
///   1990), evaluated downwards by quick processor-demand analysis (Zhang & Burns 2009) between the
///   steps of B. B is the blocking of the stack resource policy (Baker 1991; Baruah 2006), or that
///   of non-preemptive jobs (Jeffay, Stanat & Martel 1991; George, Rivierre & Spuri 1996).
/// - Response times: Spuri 1996; non-preemptive: George, Rivierre & Spuri 1996.
#pragma once

#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

/// The result of the processor-demand test.
struct DemandTest {
  /// Whether the demand fits.
  enum class Outcome : std::uint8_t {
    met,       ///< every deadline is guaranteed
    exceeded,  ///< more is demanded in an interval than fits
    unknown,   ///< too much to compute
  };
  Outcome outcome = Outcome::unknown;  ///< The verdict.
  nanoseconds at{0};  ///< If exceeded: the length of an interval that demands more than fits.
};

/// The processor-demand test (Zhang & Burns 2009).
/// @param demands the demands of one core.
/// @param preemptive the ceilings of the demands apply; otherwise a started job keeps the core.
/// @param effort limits the computation.
/// @param supply of the core: sbf(t) takes the place of t.
TAKT_CORE_PUBLIC DemandTest edf_demand(std::span<const Demand> demands, bool preemptive,
                                       Effort& effort, const Supply& supply = {});

/// Bounds on response times (Spuri 1996), in the order of the demands. Not found if the demands
/// need more time than there is, or if `effort` is used up.
TAKT_CORE_PUBLIC std::vector<Response> edf_responses(std::span<const Demand> demands,
                                                     bool preemptive, Effort& effort,
                                                     const Supply& supply = {});

}  // namespace takt::analysis
