// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/application/application.hpp"
#include "takt/sched/compiled.hpp"

namespace takt::analysis {

// Which topics its callbacks read and write: as in a run of this scenario, or those of all
// scenarios, the same in each.
enum class Topics { own, of_all };

// The application with this scenario only: the parameters of the scenario become those of its
// callbacks, which stay on their cores.
application::Application one_scenario(const application::Application& application,
                                      const sched::CompiledStrategy& strategy,
                                      const sched::CompiledScenario& scenario,
                                      Topics topics = Topics::own);

}  // namespace takt::analysis
