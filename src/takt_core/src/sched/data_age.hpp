// SPDX-License-Identifier: Apache-2.0
//
// Who produces the data whose age a task limits, and what that asks of the producer.
#pragma once

#include <vector>

#include "takt/sched/task_set.hpp"

namespace takt::sched {

// One entry for each read with a maximum age, by reader. Throws ScheduleError for an age that no
// schedule can keep.
std::vector<AgeConstraint> find_age_constraints(const std::vector<Task>& tasks);

// Gives all tasks that produce the data at least the priority of its reader.
void raise_sources(std::vector<Task>& tasks, const std::vector<AgeConstraint>& constraints);

}  // namespace takt::sched
