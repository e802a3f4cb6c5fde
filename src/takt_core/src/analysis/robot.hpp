// SPDX-License-Identifier: Apache-2.0
//
// A robot of several processes. Each process is analysed as an application on its own; what the
// others do to it comes in three ways.
//
//  - Processes of higher priority on its core take time from whatever runs, as interrupts do: each
//    of their jobs is one (Davis & Burns 2005). A window begins where none of their jobs is
//    pending, so all that runs in it was noticed in it. This holds for each order in which they
//    run, as long as they leave the core only when they have nothing to run. Those with a
//    reservation take what their server does (robot_core.hpp).
//  - Messages from another process arrive as their writers' jobs end: with their period, and as
//    jitter the variation of these ends (Tindell & Clark 1994); those of a join as it publishes
//    (docs/reference/analysis.md, eq. 21). Several writers count together:
//    events with periods T_i and jitters J_i are at most those of a period 1 / sum(1 / T_i) and a
//    jitter of that period times (sum(J_i / T_i) + n - 1).
//  - A message is noticed up to the longest handover later, which is a jitter of its reader.
//
// The bounds of one round give the jitters of the next, until nothing changes.
#pragma once

#include "takt/analysis/analyse.hpp"

namespace takt::analysis {

// The analysis of one process: analyse() without own subscriptions.
using AnalyseProcess = Report (*)(const application::Application&, const Options&);

Report analyse_robot(const application::Application& described, const Options& options,
                     AnalyseProcess analyse_process);

// A robot with scenarios: each of them by itself.
Report analyse_scenarios(const application::Application& described, Options options,
                         AnalyseProcess analyse_process);

// The robot of ScenarioChanges::densest(), with bounds that hold across switches; null: as above.
class ScenarioChanges;
Report analyse_robot(const application::Application& described, const Options& options,
                     AnalyseProcess analyse_process, const ScenarioChanges* changes);

}  // namespace takt::analysis
