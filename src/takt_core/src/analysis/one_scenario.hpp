// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/application/application.hpp"
#include "takt/sched/compiled.hpp"

namespace takt::analysis {

// The application with this scenario as its only one: what the scenario declares is what its
// callbacks declare, and they stay on their cores.
application::Application one_scenario(const application::Application& application,
                                      const sched::CompiledStrategy& strategy,
                                      const sched::CompiledScenario& scenario);

}  // namespace takt::analysis
