// SPDX-License-Identifier: Apache-2.0
//
// Jobs of two scenarios around a switch. A mode-change bound after the asynchronous protocols of
// J. Real, A. Crespo, "Mode change protocols for real-time systems", Real-Time Systems 26, 2004,
// for any number of switches at any times: callbacks that stay active are released no closer than
// the shortest of their periods and no further apart than the longest, whenever the executor
// switches, and a job keeps the parameters with which it was released. So the application in which
// each callback has the shortest period and deadline and the longest execution time of all
// scenarios has every run with switches among its sporadic runs.
#pragma once

#include "takt/analysis/report.hpp"
#include "takt/sched/compiled.hpp"

namespace takt::analysis {

// Whether all deadlines, chains and ages keep their limits around switches, too; where not, or
// where the bound does not cover the application, why. For a strategy with several scenarios.
SwitchReport across_switches(const application::Application& application,
                             const sched::CompiledStrategy& strategy);

}  // namespace takt::analysis
