// SPDX-License-Identifier: Apache-2.0
//
// What the kernel leaves to one process of a robot on its core (docs/reference/analysis.md, eq. 40
// and 41).
//
//  - A process with a reservation (SCHED_DEADLINE) has its runtime in each period, by the deadline:
//    a supply (Easwaran, Anand & Lee 2007). From those below it takes no more than its server does
//    (Abeni & Buttazzo 1998), whatever its jobs are.
//  - Of those with a priority (SCHED_FIFO) each job is an interrupt of all below.
//  - A process at SCHED_OTHER has what all others leave, up to its quota, if no other is beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "robot_effects.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

// What a process has of its core.
struct ShareOfCore {
  std::optional<application::Core> core = {};  // nothing: all of it
  bool disturbed = false;                      // others, or its quota, take a part of it
  bool throttled = false;                      // by its quota, as an interrupt of its jobs
};

// `effects`: of each process.
ShareOfCore share_of_core(const application::Application& robot, std::size_t number,
                          const std::vector<Effects>& effects);

// What the bounds assume of the kernel's scheduling, and why a process has none.
std::vector<std::string> assumed_of_kernel(const application::Application& robot);

// The names of the process's supply and of its rivals in the methods of its bounds. `throttled`: as
// in ShareOfCore.
void name_supply(ScenarioReport& report, const application::Application& robot, std::size_t number,
                 bool throttled);

}  // namespace takt::analysis
