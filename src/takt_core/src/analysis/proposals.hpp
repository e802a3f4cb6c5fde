// SPDX-License-Identifier: Apache-2.0
//
// Finds priorities or cores that make an unschedulable scenario schedulable. Proposals are computed
// for the present releases and then checked by a complete analysis of the changed application.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

using Proposal = std::vector<std::pair<std::string, int>>;  // callback, priority or core

// Audsley 2001: from the lowest priority upwards, each is assigned to any callback that meets its
// deadline with it. Optimal without groups and messages between callbacks. Empty: none was found,
// or the policy does not use priorities.
Proposal propose_priorities(const application::Application& application,
                            const sched::CompiledStrategy& strategy,
                            const sched::CompiledScenario& scenario, const ScenarioModel& model);

// The heaviest callback first, onto the first, or the least loaded, core on which all still meet
// their deadlines (Oh & Son 1995). Empty: none was found, or there is only one core.
Proposal propose_cores(const application::Application& application,
                       const sched::CompiledStrategy& strategy,
                       const sched::CompiledScenario& scenario, const ScenarioModel& model);

}  // namespace takt::analysis
