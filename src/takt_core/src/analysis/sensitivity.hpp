// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/analysis/report.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// Leaves the model as it was. A deadline that is guaranteed stays so when a job computes less, so
// the factors are found by halving.
Sensitivity find_sensitivity(ScenarioModel& model, const application::Application& application);

}  // namespace takt::analysis
