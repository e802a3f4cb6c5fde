// SPDX-License-Identifier: Apache-2.0
/// @file
/// Response times under fixed priorities, preemptive or not, with exclusive groups, jitter and
/// arbitrary deadlines. All are one test, that of preemption thresholds (Wang & Saksena 1999; in
/// the form of Keskin, Bril & Lukkien 2010). The threshold of a started job is its priority or the
/// ceiling that it keeps, whichever is higher.
///
/// - threshold = priority: preemptive (Joseph & Pandya 1986; Audsley et al. 1993; for deadlines
///   above periods the busy period of Lehoczky 1990 and Tindell, Burns & Wellings 1994);
/// - threshold = ceiling of the task's group: the stack resource policy (Baker 1991);
/// - threshold above all priorities: non-preemptive (Davis, Burns, Bril & Lukkien 2007).
///
/// Jobs of one priority run in the order of their releases, so of an equal priority only earlier
/// releases count; every alignment of the equal ones is examined.
///
/// Jobs may suspend themselves (Demand::waits): J.-J. Chen et al., "Many suspensions, many
/// problems", Real-Time Systems 55, 2019; and where it gives less, J.-J. Chen, G. Nelissen & W.-H.
/// Huang, ECRTS 2016. Only under preemptive priorities, and outside of groups.
#pragma once

#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

/// Bounds on response times, in the order of the demands. Not found if the levels down to the
/// demand's own need more time than there is, or if `effort` is used up.
TAKT_CORE_PUBLIC std::vector<Response> fixed_priority_responses(std::span<const Demand> demands,
                                                                Effort& effort,
                                                                const Supply& supply = {});

/// Whether all bounds are within the deadlines. Stops at the first that is not.
TAKT_CORE_PUBLIC bool fixed_priority_accepts(std::span<const Demand> demands, Effort& effort,
                                             const Supply& supply = {});

/// Whether the bound of one demand is within its deadline, for demands without suspension and
/// boosting.
TAKT_CORE_PUBLIC bool fixed_priority_keeps(std::span<const Demand> demands, std::size_t demand,
                                           Effort& effort, const Supply& supply = {});

/// The bound of one demand among the others, independent of their order: for priority assignment
/// (Audsley). With suspensions it holds while the others meet their deadlines.
TAKT_CORE_PUBLIC Response fixed_priority_response(std::span<const Demand> demands,
                                                  std::size_t demand, Effort& effort,
                                                  const Supply& supply = {});

}  // namespace takt::analysis
