// SPDX-License-Identifier: Apache-2.0
//
// Jobs of two scenarios around a switch. A mode-change bound after the asynchronous protocols of J.
// Real, A. Crespo, "Mode change protocols for real-time systems", Real-Time Systems 26, 2004, for
// any number of switches at any times: releases of callbacks that stay active are no closer than
// the shortest of their periods and no further apart than the longest, whenever the executor
// switches, and a job keeps the parameters of its release. So the sporadic runs of the application
// in which each callback has the shortest period and deadline and the longest execution time of all
// scenarios include every run with switches.
#pragma once

#include "takt/analysis/report.hpp"
#include "takt/sched/compiled.hpp"

namespace takt::analysis {

// Whether all deadlines, chains and ages keep their limits around switches; otherwise, or if the
// bound does not cover the application, the reason. For a strategy with several scenarios.
SwitchReport across_switches(const application::Application& application,
                             const sched::CompiledStrategy& strategy);

}  // namespace takt::analysis
