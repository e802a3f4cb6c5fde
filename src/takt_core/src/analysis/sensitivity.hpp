// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "takt/analysis/report.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

using Progress = std::function<void(std::size_t done, std::size_t all)>;  // of callbacks

// Finds the largest factors for execution times. Leaves the model unchanged.
//
// Graphs::none: by the closed tests, whose verdicts stay true if jobs compute less. Graphs::brief:
// if schedule graphs were needed. The factors then apply to worst cases only, and are at least 1:
// best cases stay, and the policy uses the declared times, so that longer worst cases only add
// runs. None if the graphs are too large to be made so often. If each question is a complete
// analysis, callbacks may be left out. `solved`: from model.solve(), after which the model has not
// changed.
std::optional<Sensitivity> find_sensitivity(ScenarioModel& model,
                                            const application::Application& application,
                                            Graphs graphs, const Progress& progress = {},
                                            const ScenarioBounds* solved = nullptr);

}  // namespace takt::analysis
