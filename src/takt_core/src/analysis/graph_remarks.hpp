// SPDX-License-Identifier: Apache-2.0
//
// What a schedule graph has to say besides its bounds.
#pragma once

#include <string>
#include <vector>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// For each core why it has no graph, or the run in which a deadline is missed.
std::vector<std::string> graph_remarks(const ScenarioModel& model, const ScenarioBounds& bounds,
                                       const sched::CompiledStrategy& strategy);

}  // namespace takt::analysis
