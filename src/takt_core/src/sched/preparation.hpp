// SPDX-License-Identifier: Apache-2.0
//
// Parts of Policy::prepare() that several policies share.
#pragma once

#include <string_view>
#include <vector>

#include "takt/sched/policy.hpp"

namespace takt::sched {

inline constexpr int lowest_priority = 1;
inline constexpr int highest_priority = 98;

// Message tasks without a priority take the highest one among the tasks that read their topic;
// without such tasks they keep none.
void inherit_priorities(std::vector<Task>& tasks);

// Message tasks without deadline and period take the shortest deadline among the tasks that read
// their topic; without such tasks they keep none.
void inherit_deadlines(std::vector<Task>& tasks);

// Replaces all priorities: the shorter the key, the higher the priority, from 98 downwards without
// gaps; equal keys share one. Tasks with key 0 inherit. Throws ScheduleError if 98 priorities do
// not suffice, and for a task with neither a key nor a task to inherit from.
using PriorityKey = nanoseconds (*)(const TaskParameters&);
void assign_priorities(std::vector<Task>& tasks, PriorityKey key, std::string_view policy);

// These throw ScheduleError for the first task that lacks what the policy needs.
void require_priorities(const std::vector<Task>& tasks, std::string_view policy);
void require_execution_times(const std::vector<Task>& tasks, std::string_view policy);
void refuse_deadlines_above_periods(const std::vector<Task>& tasks, std::string_view policy);

}  // namespace takt::sched
