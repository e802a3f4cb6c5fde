// SPDX-License-Identifier: Apache-2.0
//
// If not all schedules of a policy that leaves the core idle on purpose are known, one run still
// proves something: a deadline that is missed in it can be missed.
#pragma once

#include <vector>

#include "takt/analysis/report.hpp"
#include "takt/sched/compiled.hpp"

namespace takt::analysis {

// By callback, whether it misses a deadline in the run in which every job takes its worst case;
// empty if that run would be too long.
std::vector<bool> missed_in_one_run(const application::Application& application,
                                    const sched::CompiledStrategy& strategy,
                                    const sched::CompiledScenario& scenario);

}  // namespace takt::analysis
