// SPDX-License-Identifier: Apache-2.0
//
// The remarks of a schedule graph besides its bounds.
#pragma once

#include <string>
#include <vector>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// For each core why it has no graph, or the run that misses a deadline.
std::vector<std::string> graph_remarks(const ScenarioModel& model, const ScenarioBounds& bounds,
                                       const sched::CompiledStrategy& strategy);

}  // namespace takt::analysis
