// SPDX-License-Identifier: Apache-2.0
//
// The scenarios of a robot: each executor of Takt switches between them, and has those changes that
// are of callbacks of its own process.
#pragma once

#include <optional>
#include <vector>

#include "takt/application/application.hpp"

namespace takt::application {

// Throws sched::ScheduleError for changes that no process can follow.
void check_scenarios(const Application& robot);

// The scenarios as one process has them; nothing: it knows none.
// `priorities`: by scenario and callback of the robot, in place of those that they say; 0 keeps
// these.
std::optional<sched::SchedulingStrategy> scenarios_of(
    const Application& robot, std::size_t process,
    const std::vector<std::vector<int>>& priorities = {});

// The robot as long as it stays in a scenario.
Application in_scenario(const Application& robot, const sched::SchedulingScenario& scenario);

}  // namespace takt::application
