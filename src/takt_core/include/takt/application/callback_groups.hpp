// SPDX-License-Identifier: Apache-2.0
/// @file
/// The callback groups that an application has as nodes of rclcpp.
#pragma once

#include <string>
#include <vector>

#include "takt/application/application.hpp"
#include "takt/visibility.hpp"

namespace takt::application {

/// The name of each callback's mutually exclusive group: that of its declared group, with all
/// callbacks of its node that hear the same topic; each other callback has one of its own. A
/// process of a robot that has one thread is all that a group over several nodes asks for.
/// @throws sched::ScheduleError for a group over several nodes in one process: rclcpp has none.
TAKT_CORE_PUBLIC std::vector<std::string> callback_groups(const Application& application);

}  // namespace takt::application
