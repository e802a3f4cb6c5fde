// SPDX-License-Identifier: Apache-2.0
//
// How long less urgent jobs keep a level from the core under preemptive fixed priorities, because
// they hold groups or locks.
//
// While jobs of the level or above are pending, a job below runs only with a priority that it has
// from a group or a lock, and none of these can it take meanwhile unless it holds one already. So
// each job below counts with one outermost section that it was in at the beginning:
// whichever of these is less in sum:
//  - of each callback one;
//  - of ceilings (groups, and locks with the immediate priority ceiling) one in all, for none of
//    their levels starts while another one is held (T. P. Baker, Real-Time Systems 3, 1991);
//  - of priority inheritance one for each callback, and one for each lock, whichever is less in sum
//    (L. Sha, R. Rajkumar and J. P. Lehoczky, IEEE Transactions on Computers 39, 1990);
//  - of holders that come before all others (FMLP+) one of each callback.
#pragma once

#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/application.hpp"
#include "takt/sched/compiled.hpp"

namespace takt::analysis {

// Whether any job holds locks.
bool anyone_locks(std::span<const Demand> demands) noexcept;

// The longest time that jobs below `level` keep it from the core. `ceilings`: of them by groups.
nanoseconds blocking_by_locks(std::span<const Demand> demands, sched::Level level,
                              nanoseconds ceilings);

// What one of its jobs computes in sections that reach the level, at most.
nanoseconds within_sections(const Demand& demand, sched::Level level) noexcept;

// The locks that contribute to it, by index, ascending.
std::vector<std::size_t> blocking_locks(std::span<const Demand> demands, sched::Level level);

// The sections of each callback as the test wants them.
//
// Spin locks: a job that requests one keeps its core until it leaves the lock, so each other core
// has at most one request for it in the queue, and the queue is first in, first out. A request
// waits for at most one section of each other core (P. Gai, G. Lipari and M. Di Natale, Proc. RTSS
// 2001). That section may be longer by the releases that its core notices when it begins.
//
// FMLP+ (B. Brandenburg, Proc. ECRTS 2014): who waits leaves its core. While a request has not its
// lock, or has it and not its core, some earlier request gets on: a holder of this lock, or of
// another one on the core of somebody who takes this lock. Each other callback has at most one
// earlier request. The wait counts as computing, so whatever runs meanwhile counts nowhere. Less
// urgent jobs of the core may ask for locks then, and get them later: each of them keeps the core
// for at most one section after a wait of anybody above it, and for one at the beginning.
std::vector<std::vector<Section>> sections_of(const application::Application& application,
                                              const sched::CompiledStrategy& strategy,
                                              const sched::CompiledScenario& scenario);

}  // namespace takt::analysis
