// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "takt/analysis/report.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

using Progress = std::function<void(std::size_t done, std::size_t all)>;  // of callbacks

// Leaves the model as it was. The factors are found by halving.
//
// Graphs::none: by the closed tests. A deadline that they guarantee stays so when jobs compute
// less. Graphs::brief: where schedule graphs were needed. Factors are those of the worst cases
// alone, and 1 at least: the best cases stay, and the policy goes by the times that are declared,
// so that longer worst cases only add runs. None where the graphs are too large to be made so
// often. Where each question is a whole analysis, callbacks may be left out.
std::optional<Sensitivity> find_sensitivity(ScenarioModel& model,
                                            const application::Application& application,
                                            Graphs graphs, const Progress& progress = {});

}  // namespace takt::analysis
