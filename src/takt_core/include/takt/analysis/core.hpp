// SPDX-License-Identifier: Apache-2.0
//
// The test that belongs to a policy, for one core. Tasks never migrate, so cores only meet where a
// message crosses from one to the other, and that is the scenario's business.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/sched/policy.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

enum class Test : std::uint8_t {
  fixed_priority,  // preemptive or not: the demands' thresholds say
  edf,
  non_preemptive_edf,
  schedule_graph,  // policies that leave the core idle on purpose: ScenarioModel has what it needs
                   // (which goes on with it where a test of those that are not preemptive fails)
  none,            // a user's comparator: nothing is known about it
};

TAKT_CORE_PUBLIC Test test_for(const sched::Policy& policy) noexcept;

// The ceiling that a started job of this policy keeps, with that of its group. Interrupts alone are
// above that of policies that are not preemptive.
TAKT_CORE_PUBLIC sched::Level ceiling_for(const sched::Policy& policy,
                                          sched::Level of_group) noexcept;
inline constexpr sched::Level interrupt_level = sched::infinite_ceiling;

struct CoreBounds {
  // Whether every deadline is kept in every run; nothing: too much to compute, or no test.
  std::optional<bool> schedulable = {};
  std::vector<Response> responses = {};  // by demand
  bool from_demand =
      false;  // some responses are known from the demand only: not above the deadline
  bool explored =
      false;  // the verdict is that of a schedule graph, where it is met the responses, too
};

TAKT_CORE_PUBLIC CoreBounds bounds(Test test, std::span<const Demand> demands, Effort& effort);

// The verdict alone, as fast as it can be had.
TAKT_CORE_PUBLIC std::optional<bool> accepts(Test test, std::span<const Demand> demands,
                                             Effort& effort);

}  // namespace takt::analysis
