// SPDX-License-Identifier: Apache-2.0
//
// How the kernel schedules the threads of a robot's processes: SCHED_DEADLINE before SCHED_FIFO
// before SCHED_OTHER (sched(7)).
#pragma once

#include "object.hpp"
#include "takt/application/application.hpp"

namespace takt::application {

// Reads priority, or what is in its place.
void parse_kernel_scheduling(Object& object, Process& process);

// Whether its thread has a real-time priority (SCHED_FIFO).
bool is_fifo(const Process& process);

// Whether the kernel runs `other` before `own`, on the core that they share.
bool runs_before(const Process& other, const Process& own);

// Whether they share a core at SCHED_OTHER, by weights.
bool share_by_weights(const Process& left, const Process& right);

// Throws sched::ScheduleError for what the kernel refuses or does not keep: several ways of
// scheduling at once, reservations that do not fit on their core, jobs that would preempt others in
// a thread that cannot.
void check_kernel_scheduling(const Application& application);

}  // namespace takt::application
