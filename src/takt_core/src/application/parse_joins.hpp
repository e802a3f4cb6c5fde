// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/application/application.hpp"

namespace takt::application {

// Throws sched::ScheduleError for callbacks that cannot form the join that they name.
void check_joins(const Application& application);

}  // namespace takt::application
