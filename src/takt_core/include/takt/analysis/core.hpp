// SPDX-License-Identifier: Apache-2.0
/// @file
/// The schedulability test of a policy, for one core. Tasks never migrate, so cores interact only
/// where a message crosses from one to another, which ScenarioModel handles.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/sched/policy.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

/// The test that belongs to a policy.
enum class Test : std::uint8_t {
  fixed_priority,      ///< preemptive or not, by the thresholds of the demands
  edf,                 ///< preemptive EDF
  non_preemptive_edf,  ///< non-preemptive EDF
  /// for policies that leave the core idle on purpose; ScenarioModel runs it, and also uses it when
  /// a test of another non-preemptive policy fails
  schedule_graph,
  wait_set,       ///< rclcpp's single-threaded executor
  threads,        ///< rclcpp's multi-threaded executor
  group_turns,    ///< rclcpp's events executor with callback groups
  arrival_order,  ///< rclcpp's events executor
  none,           ///< a comparator of the user: nothing is known about it
};

/// Whether it is that of an executor of rclcpp, which takes what is ready in an order of its own.
constexpr bool is_of_rclcpp(Test test) noexcept {
  return test >= Test::wait_set && test <= Test::arrival_order;
}

/// The test of a policy.
TAKT_CORE_PUBLIC Test test_for(const sched::Policy& policy) noexcept;

/// The test of the policy without idling: of policies that leave the core idle on purpose that of
/// the same order without it, of all others test_for() (docs/reference/analysis.md, eq. 35).
TAKT_CORE_PUBLIC Test test_without_idling(const sched::Policy& policy) noexcept;

/// The ceiling that a started job keeps under this policy, given the ceiling of its group. Under
/// non-preemptive policies only interrupts are above it.
TAKT_CORE_PUBLIC sched::Level ceiling_for(const sched::Policy& policy,
                                          sched::Level of_group) noexcept;
/// The level of interrupts, above all tasks.
inline constexpr sched::Level interrupt_level = sched::infinite_ceiling;

/// The result for one core.
struct CoreBounds {
  /// Whether every deadline is met in every run; nothing: too much to compute, or no test.
  std::optional<bool> schedulable = {};
  std::vector<Response> responses = {};  ///< By demand.
  /// Some bounds follow only from the demand test: they equal the deadline.
  bool from_demand =  ///< Some bounds follow only from the demand test: they equal the deadline.
      false;          // some responses are known from the demand only: not above the deadline
  /// The verdict, and if it is met the responses, come from a schedule graph.
  bool explored =  ///< The verdict, and if it is met the responses, come from a schedule graph.
      false;       // the verdict is that of a schedule graph, where it is met the responses, too
  bool by_chains = false;  ///< Met only because chains are analysed as a whole.
  /// Met by the test of the policy without idling, whatever the schedule graph says.
  bool without_idling = false;
};

/// Verdict and response times of the demands of one core. `effort` limits the computation.
TAKT_CORE_PUBLIC CoreBounds bounds(Test test, std::span<const Demand> demands, Effort& effort,
                                   const Supply& supply = {});

/// The verdict only, as fast as possible; nothing if `effort` is used up or there is no test.
TAKT_CORE_PUBLIC std::optional<bool> accepts(Test test, std::span<const Demand> demands,
                                             Effort& effort, const Supply& supply = {});

}  // namespace takt::analysis
