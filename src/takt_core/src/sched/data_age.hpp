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

// A timer that samples data for a reader shall have the reader's priority in the jobs that the
// reader needs (boosted_priority). What messages release on the way from it has it always: nobody
// knows at their arrival for whom they are.
void raise_producers(std::vector<Task>& tasks, const std::vector<AgeConstraint>& constraints);

// AgeConstraint::latest_start of each.
void find_latest_starts(const std::vector<Task>& tasks, const Policy& policy,
                        std::vector<AgeConstraint>& constraints);

}  // namespace takt::sched
