// SPDX-License-Identifier: Apache-2.0
//
// Finds the producer of the data whose age a task limits, and what the limit requires of the
// producer.
#pragma once

#include <vector>

#include "takt/sched/task_set.hpp"

namespace takt::sched {

// One entry for each read with a maximum age, by reader. Throws ScheduleError for an age that no
// schedule can keep.
std::vector<AgeConstraint> find_age_constraints(const std::vector<Task>& tasks);

// Gives a timer that samples data for a reader the reader's priority in the jobs that the reader
// needs (boosted_priority). Tasks that messages release on the way have that priority always,
// because at their arrival it is unknown which reader will use them.
void raise_producers(std::vector<Task>& tasks, const std::vector<AgeConstraint>& constraints);

// AgeConstraint::latest_start of each.
void find_latest_starts(const std::vector<Task>& tasks, const Policy& policy,
                        std::vector<AgeConstraint>& constraints);

}  // namespace takt::sched
