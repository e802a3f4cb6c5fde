// SPDX-License-Identifier: Apache-2.0
//
// The factor on all execution times with which a robot keeps all its limits: deadlines, and
// latencies of chains. Each answer is a whole analysis. Best cases stay, unless the worst is less.
#pragma once

#include "robot.hpp"
#include "takt/analysis/report.hpp"

namespace takt::analysis {

// Of all callbacks at once.
Sensitivity robot_sensitivity(const application::Application& described, const Options& options,
                              AnalyseProcess analyse_process);

}  // namespace takt::analysis
