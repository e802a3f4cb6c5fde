// SPDX-License-Identifier: Apache-2.0
//
// What would make a scenario schedulable that is not: other priorities, other cores. Proposals are
// found on the present releases and then checked by a whole analysis of the changed application.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

using Proposal = std::vector<std::pair<std::string, int>>;  // callback, priority or core

// Audsley 2001: from the lowest priority upwards, each goes to any callback that keeps its deadline
// there. Optimal without messages between callbacks and groups. Empty: none was found, or the
// policy does not go by priorities.
Proposal propose_priorities(const application::Application& application,
                            const sched::CompiledStrategy& strategy,
                            const sched::CompiledScenario& scenario, const ScenarioModel& model);

// The heaviest first onto the first, or the least loaded, core on which all still keep their
// deadlines (Oh & Son 1995). Empty: none was found, or there is one core only.
Proposal propose_cores(const application::Application& application,
                       const sched::CompiledStrategy& strategy,
                       const sched::CompiledScenario& scenario, const ScenarioModel& model);

}  // namespace takt::analysis
