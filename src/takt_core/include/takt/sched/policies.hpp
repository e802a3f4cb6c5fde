// SPDX-License-Identifier: Apache-2.0
//
// The policies that Takt knows, each behind the one interface Policy. All are stateless; one object
// may serve any number of executors and simulators at once.
//
//   fp      fixed priority: higher priority first
//   rm      rate-monotonic (Liu & Layland 1973): fp, shorter periods are given higher priorities
//   dm      deadline-monotonic (Leung & Whitehead 1982): the same with relative deadlines
//   edf     earliest deadline first: earlier absolute deadline first
//   np-fp   fp, and a job that has started runs to its end
//   np-edf  edf, and a job that has started runs to its end
//   p-rm    Precautious-RM (Nasri & Kargahi 2014): non-preemptive rm, may leave the core idle
//   cw-edf  critical-window EDF (Nasri & Fohler 2016): np-edf, may leave the core idle
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "takt/sched/policy.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

// Priorities as declared. Each task needs one of 1..98, or inherits it (message tasks).
TAKT_CORE_PUBLIC PolicyPtr fixed_priority();
TAKT_CORE_PUBLIC PolicyPtr non_preemptive_fixed_priority();

// Priorities do not matter. The deadline of a task is its own, or its period, or, for message tasks
// that have neither, the shortest one of the tasks that read their topic. Without any of them it is
// at the end of time: the task runs after all others.
TAKT_CORE_PUBLIC PolicyPtr edf();
TAKT_CORE_PUBLIC PolicyPtr non_preemptive_edf();

// Fixed priorities assigned from 98 downwards by period or relative deadline; declared ones do not
// count. Equal periods (deadlines) share a priority; more than 98 distinct ones are refused,
// because tasks forced to share a priority would no longer run in rate-monotonic order. Message
// tasks without a period (deadline) inherit. Deadline-monotonic refuses deadlines above periods:
// the assignment is no longer optimal there (Lehoczky 1990).
TAKT_CORE_PUBLIC PolicyPtr rate_monotonic();
TAKT_CORE_PUBLIC PolicyPtr deadline_monotonic();

// Non-work-conserving and non-preemptive: the first pending job starts only if that does not make a
// later release miss its deadline; otherwise the core waits for that release. Both need the
// expected execution time of every task and refuse deadlines above periods.
//
// Precautious-RM looks at the next job of the highest-priority task alone: job J starts at t only
// if t + C_J + C_1 <= d_1. Where several tasks share the highest priority, their next jobs must all
// still fit behind J, in the order of their deadlines.
TAKT_CORE_PUBLIC PolicyPtr precautious_rm();
// CW-EDF looks at the next job of every task.
TAKT_CORE_PUBLIC PolicyPtr cw_edf();

// A comparator over two pending jobs: true when the first one runs before the second one.
// The contract:
//  - a strict weak ordering over all jobs: no job before itself, never both orders, transitive, and
//    "neither before the other" is transitive too (see order_check.hpp; checked in debug builds);
//  - it depends on the two jobs alone (no clock, no state), so their order never changes while they
//    wait, and scenario switches are the way to change it;
//  - it does not throw (the process ends if it does), block or allocate; several threads call it.
using Comparator = std::function<bool(const Job&, const Job&)>;

// A level for a task, such that a job that is released while another one runs, and comes before it,
// always has the higher level (EDF: the negative relative deadline).
using LevelFunction = std::function<Level(const TaskParameters&)>;

struct CustomOptions {
  bool preemptive = true;
  // Without a level function a job of an exclusive group is not preempted at all: nothing less is
  // safe when any task may come before any other.
  LevelFunction level = {};
};

// Throws ScheduleError for an empty name, the name of a policy above, or an empty comparator.
TAKT_CORE_PUBLIC PolicyPtr custom(std::string name, Comparator comparator,
                                  CustomOptions options = {});

// The policy of that name in the table above. Throws ScheduleError, with the nearest name, when
// there is none.
TAKT_CORE_PUBLIC PolicyPtr parse_policy(std::string_view name);

// The names in the table above.
TAKT_CORE_PUBLIC std::span<const std::string_view> policy_names() noexcept;

}  // namespace takt::sched
