// SPDX-License-Identifier: Apache-2.0
//
// The remarks on releases that do not become jobs: those that a callback drops, since an earlier
// one still waits or runs, and the messages that a topic's queue loses.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "takt/analysis/scenario_model.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

// Of the callback that these streams release, with its bound of the response; none where nothing is
// dropped.
std::optional<std::string> drop_remark(const application::Application& application,
                                       const sched::CompiledScenario& scenario,
                                       const ScenarioModel& model, const ScenarioBounds& bounds,
                                       std::span<const std::size_t> streams, nanoseconds response);

}  // namespace takt::analysis
