// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "object.hpp"
#include "takt/application/application.hpp"

namespace takt::application {

// The policy of an application or of one of its processes; an executor of rclcpp is one, too.
// Throws ParseError and sched::ScheduleError.
void parse_executor(Object& object, std::string& policy);

// The processes, with what lies between them. `names`: of each callback, that of its process; empty
// where it names none. Throws as parse_executor does.
void parse_processes(Object& object, Application& application,
                     const std::vector<std::string>& names);

}  // namespace takt::application
