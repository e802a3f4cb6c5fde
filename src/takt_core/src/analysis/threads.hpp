// SPDX-License-Identifier: Apache-2.0
//
// Response times under rclcpp's executors with threads (rclcpp_multi_threaded,
// sched/wait_result.hpp, and rclcpp_events_cbg, sched/group_turns.hpp): n threads, each on a core
// of its own, take what is ready; of a callback group one job runs at a time. In which order they
// are taken is left open: where a group is busy whenever the wait set is looked at, its callbacks
// starve in no known order (Teper et al. 2024), so rounds do not bound anything.
//
// A thread is free only while each waiting job is one of a group of which a job runs. Let J be a
// job of callback i in group g, and t0 the earliest time from which on, until J starts, a job of g
// has been noticed and not ended, or all n threads run jobs. At any time between t0 and the start
//
//  - a job of g runs. It was noticed from t0 on, and it is no later job of i than J. Or
//  - all n threads run jobs of other groups, each of them one job of one group.
//
// Just before t0 a thread was free. So what was left then is of the groups that ran, n - 1 at most.
// Of every other group h the most work between t0 and t0 + S is W_h(S) = sum of closed(S) C_j over
// its callbacks. Of a group that ran, what was left had not ended by t0, so it was released after
// t0 - R, with R a bound on its response: W'_h(S) = sum of open(S + R_j) C_j. Let all threads run
// other groups for P in total. They do n P of work, of each group P at most: n P <= sum of
// min(W_h(S), P), with W' in place of W for the n - 1 groups for which that is most. P(S) is the
// largest such P (after the interference bounds of Jiang et al. 2022 and Sobhani et al. 2023; the
// share of one thread after Bertogna & Cirinei 2007, the n - 1 groups after Guan et al. 2009). J
// starts by the least S = G(S) + P(S) after t0, where G(S) is the work of g: closed(S) C_j of each
// other callback of g, and that of the jobs of i before J.
//
// Of a reentrant callback (rclcpp_multi_threaded) each thread may run a job. So while a job J of it
// waits, no thread is free, and nothing of its own group keeps it from starting: G = 0, and t0 is
// the earliest time from which on, until J starts, all n threads run jobs. Among these are jobs of
// i that start before J: k - 1 that are noticed from t0 on, where J is the k-th, and o that run at
// t0. A callback's jobs start in the order of their releases, and those o have been released within
// R_i before t0, so J is released at the earliest both of T(k - 1) and T(o + k - 1) - R_i + 1 after
// t0, with T(m) the earliest release m after the first. All pairs of k and o are looked at, as long
// as J is released before all threads may no longer be busy. Each job is on one thread, so it gives
// min(C, P) at most; of what is left from before t0 each group and each reentrant job that runs has
// a thread of its own: the n - 1 for which that is most (eq. 48).
//
// Where something takes time from the cores, all of this holds for the time in which nothing does:
// whoever looks for what is ready holds a mutex, and while its core is away nobody else takes
// anything. So t0 is also in the time in which some core is away, and just before it none was: what
// interrupts them in S is noticed in S (as for one core, with the interrupts of all of them), and
// t0 + S comes when the supply has given G(S) + P(S) besides. Then J computes.
//
// No response is longer than all threads together are busy without a break (until_idle.hpp).
//
// The R_j are the least numbers that are consistent: each is computed from all. They hold: let a
// job be the first that takes longer than its R. What was left at its t0 had not taken longer
// before, so its own bound holds.
#pragma once

#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/application/application.hpp"
#include "takt/sched/compiled.hpp"

namespace takt::analysis {

// Whether the scenario has several threads, each on a core of its own.
bool has_several_threads(const application::Application& application,
                         const sched::CompiledScenario& scenario);

// The group of each callback, by number; one without a group has a number of its own.
std::vector<std::size_t> group_numbers(const sched::CompiledStrategy& strategy);

// Demand::group: of the callback; of a reentrant one it has no others. Levels do not matter.
std::vector<Response> thread_responses(std::span<const Demand> demands, Effort& effort,
                                       const Supply& supply);

}  // namespace takt::analysis
