// SPDX-License-Identifier: Apache-2.0
//
// Response times under rclcpp's own executors.
//
// The wait set (rclcpp_single_threaded, sched/stock_executor.hpp). Rounds R0, R1, … each begin with
// a collection and run each collected callback once. Let J be a job of callback i, and t0 the last
// time before its end at which i had no unfinished job, until one was noticed. Let J be the k-th
// job of i from t0 on.
//
//  (a) By rounds (Casini et al. 2019; Tang et al. 2020; Blaß et al. 2021, the round-robin bound).
//      R0 is the round in progress at t0: it runs each other callback at most once more, and i no
//      more, because i had nothing to run. Every later collection until J finds a job of i, so J
//      runs in R_k at the latest. Until J starts each other callback j runs at most once in each of
//      R0 … R_k, and in R_k only if it may come before i: n_j <= k + 1 if the level of j is not
//      below that of i, else n_j <= k. Between t0 and the start of J the core only runs these jobs
//      and k - 1 jobs of i, so J ends within time_for(sum of n_j C_j + k C_i) from t0. It was
//      released at t0 - lag + releases.time(k - 1) at the earliest. Timers that drop expiries only
//      lower k. If J ends before the next job can be noticed, k + 1 need not be looked at.
//
//  (b) By arrivals. No work-conserving, non-preemptive order delays J longer than the one in which
//      everything comes before i: when that one starts J, all other work that has arrived is done
//      under each order. This is the response of the lowest priority (Davis et al. 2007).
//
//  (c) By both (after Blaß et al. 2021, busy windows; Teper et al. 2022). Let r_j be a bound on the
//      response of j, from (a), (b) or (c). What j runs between t0 and the start of J at s has not
//      ended by t0, so it was released after t0 - r_j, and it was noticed by s: it is one of
//      closed(s - t0 + r_j) releases. With the least s that includes all of them, n_j is the lesser
//      of this number and that of (a).
//
// Each of the three bounds J for itself, so the least counts.
//
// The events executor (rclcpp_events): non-preemptive, in the order of arrival, as jobs of equal
// priority are in the test of fixed priorities (Bedarkar et al. 2022; Teper et al. 2024 on its use
// in ROS 2).
#pragma once

#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// Demand::level: higher ones run earlier in a round; equal ones in any order.
std::vector<Response> wait_set_responses(std::span<const Demand> demands, Effort& effort,
                                         const Supply& supply);

// Levels do not matter.
std::vector<Response> arrival_order_responses(std::span<const Demand> demands, Effort& effort,
                                              const Supply& supply);

}  // namespace takt::analysis
