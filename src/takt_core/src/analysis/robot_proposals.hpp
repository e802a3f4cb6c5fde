// SPDX-License-Identifier: Apache-2.0
//
// Finds cores, priorities, policies and reservations of a robot's processes with which more of its
// limits are guaranteed: by local search, from the description, from deadline-monotonic priorities,
// and from the same with the processes spread over the cores; then the smallest reservations with
// which as many are. Each answer is a whole analysis. Nodes stay in their processes, and executors
// of rclcpp stay what they are.
#pragma once

#include <vector>

#include "robot.hpp"

namespace takt::analysis {

// The processes that guarantee all limits, or the most; empty: not more than those described,
// and no smaller reservation.
std::vector<application::Process> propose_processes(const application::Application& described,
                                                    const Options& options,
                                                    AnalyseProcess analyse_process);

}  // namespace takt::analysis
