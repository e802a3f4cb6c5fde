// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/sched/scenario.hpp"

namespace takt::sched {

// What a scenario says of a task; topics with their maximum ages.
void apply(Task& task, const TaskChange& change);

}  // namespace takt::sched
