// SPDX-License-Identifier: Apache-2.0
//
// Policies that leave the core idle on purpose have no test. One run says something all the same:
// a deadline that is missed in it can be missed; and where nothing in the application varies, it
// is the only run there is, and repeats after a hyperperiod.
#pragma once

#include <optional>
#include <vector>

#include "takt/analysis/report.hpp"
#include "takt/sched/compiled.hpp"

namespace takt::analysis {

struct SimulatedCallback {
  nanoseconds longest{0};
  bool missed = false;
};

struct Simulated {
  std::vector<SimulatedCallback> callbacks;  // as the application's
  nanoseconds duration{0};
  bool only_run = false;  // what was seen is all that can happen
};

// None where the run would be too long to be looked at.
std::optional<Simulated> run_once(const application::Application& application,
                                  const sched::CompiledStrategy& strategy,
                                  const sched::CompiledScenario& scenario);

}  // namespace takt::analysis
