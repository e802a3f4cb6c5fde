// SPDX-License-Identifier: Apache-2.0
//
// The strategy of Krukiewicz-Gacek 2021, Appendix A: two scenarios, the second one with a policy of
// the application's own. It needs Takt's core only; docs/how-to/from-the-thesis-api.md explains it.
#pragma once

#include <chrono>
#include <takt/sched/job.hpp>
#include <takt/sched/policies.hpp>
#include <takt/sched/scenario.hpp>
#include <takt/sched/strategy.hpp>

namespace two_scenarios {

using namespace std::chrono_literals;
using takt::sched::Job;
using takt::sched::SchedulingScenario;
using takt::sched::SchedulingStrategy;

/// What has less time left to its deadline comes first; of these the more important one.
inline bool less_time_left(const Job& one, const Job& other) {
  return one.deadline != other.deadline ? one.deadline < other.deadline
                                        : one.priority > other.priority;
}

/// The scenarios of one executor; callbacks are named as SchedulingExecutor::callbacks() lists
/// them.
inline SchedulingStrategy strategy() {
  return SchedulingStrategy{}
      .add_scenario(SchedulingScenario{"default_scenario"}
                        .add_timer("node3.timer0", 98, 50ms)
                        .add_timer("node4.timer0", 97, 20ms)
                        .set_scheduling_policy(takt::sched::non_preemptive_edf()))
      .add_scenario(SchedulingScenario{"special_scenario"}
                        .add_timer("node3.timer0", 98, 40ms)
                        .add_timer("node4.timer0", 97, 20ms)
                        .set_scheduling_policy_function(less_time_left))
      .set_default_scenario("default_scenario");
}

}  // namespace two_scenarios
