// SPDX-License-Identifier: Apache-2.0
/// @file
/// The policies of Takt, each behind the interface Policy. All are stateless: one object may serve
/// any number of executors and simulators at the same time.
///
/// ```text
/// fp      fixed priority: higher priority first
/// rm      rate-monotonic (Liu & Layland 1973): fp, shorter periods are given higher priorities
/// dm      deadline-monotonic (Leung & Whitehead 1982): the same with relative deadlines
/// edf     earliest deadline first: earlier absolute deadline first
/// np-fp   fp, and a job that has started runs to its end
/// np-edf  edf, and a job that has started runs to its end
/// p-rm    Precautious-RM (Nasri & Kargahi 2014): non-preemptive rm, may leave the core idle
/// cw-edf  critical-window EDF (Nasri & Fohler 2016): np-edf, may leave the core idle
/// ```
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "takt/sched/policy.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

/// "fp": priorities as declared. Each task needs one of 1..98; a message task may inherit it.
TAKT_CORE_PUBLIC PolicyPtr fixed_priority();

/// "np-fp": as fixed_priority(), but a started job runs to its end.
TAKT_CORE_PUBLIC PolicyPtr non_preemptive_fixed_priority();

/// "edf": earliest deadline first; priorities do not matter. The deadline of a task is its own, or
/// its period, or, for message tasks with neither, the shortest deadline among the other tasks that
/// read their topic (Task::trigger). Without any of these it is TimePoint::max(), so the task runs
/// after all others.
TAKT_CORE_PUBLIC PolicyPtr edf();

/// "np-edf": as edf(), but a started job runs to its end.
TAKT_CORE_PUBLIC PolicyPtr non_preemptive_edf();

/// "rm": fixed priorities, assigned from 98 downwards by ascending period; declared ones are
/// ignored. Equal periods share a priority. More than 98 distinct periods are refused, because
/// tasks that are forced to share a priority no longer run in rate-monotonic order. Message tasks
/// without a period inherit.
TAKT_CORE_PUBLIC PolicyPtr rate_monotonic();

/// "dm": fixed priorities, assigned from 98 downwards by ascending relative deadline, otherwise as
/// rate_monotonic(). Deadlines above periods are refused, because the assignment is not optimal for
/// them (Lehoczky 1990).
TAKT_CORE_PUBLIC PolicyPtr deadline_monotonic();

/// "p-rm": Precautious-RM (Nasri & Kargahi 2014), non-preemptive and not work-conserving: the first
/// pending job J starts at t only if the next job of the highest-priority task still meets its
/// deadline afterwards, t + C_J + C_1 <= d_1; otherwise the core waits for that release. If several
/// tasks share the highest priority, the next jobs of all of them must fit behind J, in the order
/// of their deadlines. Needs the expected execution time of every task; refuses deadlines above
/// periods.
TAKT_CORE_PUBLIC PolicyPtr precautious_rm();

/// "cw-edf": critical-window EDF (Nasri & Fohler 2016), non-preemptive and not work-conserving:
/// like precautious_rm(), but by deadlines, and it considers the next job of every task. Needs the
/// expected execution time of every task; refuses deadlines above periods.
TAKT_CORE_PUBLIC PolicyPtr cw_edf();

/// A comparator over two pending jobs: true if the first runs before the second. It must fulfil
/// this contract:
///
/// - It is a strict weak ordering over all jobs: irreflexive, asymmetric, transitive, and "neither
///   before the other" is transitive as well (see order_check.hpp; checked in debug builds).
/// - It depends on the two jobs only, not on a clock or a state, so that the order of waiting jobs
///   never changes. Scenario switches are the way to change it.
/// - It does not throw (std::terminate() otherwise), block or allocate. Several threads call it.
using Comparator = std::function<bool(const Job&, const Job&)>;

/// The preemption level of a task. A job that is released while another one runs, and comes before
/// it, must always have the higher level. For EDF this is the negative relative deadline.
using LevelFunction = std::function<Level(const TaskParameters&)>;

/// What a comparator does not say.
struct CustomOptions {
  /// Whether a started job may be preempted.
  bool preemptive = true;
  /// Without it, jobs of exclusive groups are not preempted at all: nothing less is safe if any
  /// task may come before any other.
  LevelFunction level = {};
};

/// A policy with a comparator of the user.
/// @param name appears in reports and traces.
/// @param comparator see Comparator for its contract.
/// @param options preemption and levels.
/// @throws ScheduleError if the name is empty or that of a policy above, or the comparator is
/// empty.
TAKT_CORE_PUBLIC PolicyPtr custom(std::string name, Comparator comparator,
                                  CustomOptions options = {});

/// The policy of that name in the table above.
/// @throws ScheduleError, with the nearest name, if there is none.
TAKT_CORE_PUBLIC PolicyPtr parse_policy(std::string_view name);

/// The names in the table above.
TAKT_CORE_PUBLIC std::span<const std::string_view> policy_names() noexcept;

}  // namespace takt::sched
