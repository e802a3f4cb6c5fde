// SPDX-License-Identifier: Apache-2.0
//
// Response times of fixed priorities, preemptive or not, with exclusive groups, jitter and any
// deadlines: one test, that of preemption thresholds (Wang & Saksena 1999; in the form of Keskin,
// Bril & Lukkien 2010).
//
// The threshold of a started job is its priority or the ceiling that it keeps, whichever is higher.
//
//  - threshold = priority: preemptive (Joseph & Pandya 1986; Audsley et al. 1993; for deadlines
//    above periods the busy period of Lehoczky 1990 and Tindell, Burns & Wellings 1994);
//  - threshold = ceiling of the task's group: the stack resource policy (Baker 1991);
//  - threshold above all priorities: not preemptive (Davis, Burns, Bril & Lukkien 2007).
//
// Jobs of one priority run in the order of their releases, so what counts of an equal priority is
// what is released until then; every alignment of the equal ones is looked at.
//
// Jobs may wait inside (Demand::waits): J.-J. Chen et al., "Many suspensions, many problems",
// Real-Time Systems 55, 2019. Only where priorities are preemptive, and outside of groups.
#pragma once

#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

// One for each demand, in their order. A bound is not found when the levels down to the demand's
// take more time than there is, or when `effort` is used up.
TAKT_CORE_PUBLIC std::vector<Response> fixed_priority_responses(std::span<const Demand> demands,
                                                                Effort& effort);

// Whether all bounds are within the deadlines; stops at the first that is not.
TAKT_CORE_PUBLIC bool fixed_priority_accepts(std::span<const Demand> demands, Effort& effort);

// Whether one of them is, where nobody waits and nobody is boosted.
TAKT_CORE_PUBLIC bool fixed_priority_keeps(std::span<const Demand> demands, std::size_t demand,
                                           Effort& effort);

// Of one demand among the others, whatever their order: for priority assignment. Where somebody
// waits it holds as long as the others keep their deadlines.
TAKT_CORE_PUBLIC Response fixed_priority_response(std::span<const Demand> demands,
                                                  std::size_t demand, Effort& effort);

}  // namespace takt::analysis
