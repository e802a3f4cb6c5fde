// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/application/application.hpp"
#include "takt/sched/compiled.hpp"

namespace takt::analysis {

// The application with this scenario only: the parameters of the scenario become those of its
// callbacks, which stay on their cores.
application::Application one_scenario(const application::Application& application,
                                      const sched::CompiledStrategy& strategy,
                                      const sched::CompiledScenario& scenario);

}  // namespace takt::analysis
