// SPDX-License-Identifier: Apache-2.0
//
// Sets that the search through all runs has found above a bound, each for what was forgotten in it.
#include <gtest/gtest.h>

#include "analysis/exhaustive_errors.hpp"

namespace takt::analysis {
namespace {

// The reason why the bounds of a set are wrong; empty: they hold.
std::string error_in(const ExhaustiveSet& set) {
  const Report report = analyse(application_of(set), {.sensitivity = false, .proposals = false});
  const Reached reached = reach_all(options_of(set), set.tasks);
  return set.switches ? error_in(set, *report.switches, reached)
                      : error_in(set, report.scenarios.front(), reached);
}

// The releases of c0 that wait for its job before are noticed when that ends, which delays c1.
TEST(exhaustive_found, releases_are_noticed_when_the_job_before_ends) {
  EXPECT_EQ(
      error_in({.policy = "np-fp",
                .rule = Rule::np_fp,
                .tasks = {{.task = {.execution = 1, .period = 4, .deadline = 2, .priority = 1}},
                          {.task = {.execution = 2, .period = 4, .deadline = 4, .priority = 5}}},
                .costs = {.release = 1}}),
      "");
}

// While c1 waits, jobs of c0 end and releases of c0 are noticed, which delays c1.
TEST(exhaustive_found, releases_are_noticed_while_a_job_above_waits) {
  EXPECT_EQ(
      error_in(
          {.policy = "dm",
           .rule = Rule::fp,
           .tasks =
               {{.task = {.execution = 3,
                          .period = 6,
                          .deadline = 5,
                          .priority = 97,
                          .best = 1,
                          .offset = 3},
                 .reads = {{.writers = {1}, .depth = 1}},
                 .suspension = 2},
                {.task = {.execution = 1, .period = 6, .deadline = 3, .priority = 98, .offset = 9},
                 .suspension = 1}},
           .costs = {.release = 1, .publish = 1, .deliver = 1}}),
      "");
}

// The release of c1 is noticed right before c1 starts, which is not preempted: c0 waits for both.
TEST(exhaustive_found, what_keeps_the_core_is_noticed_right_before) {
  for (const auto& [policy, rule] : {std::pair{"np-fp", Rule::np_fp}, {"np-edf", Rule::np_edf}}) {
    EXPECT_EQ(
        error_in({.policy = policy,
                  .rule = rule,
                  .tasks = {{.task = {.execution = 1, .period = 5, .deadline = 3, .priority = 5}},
                            {.task = {.execution = 2, .period = 4, .deadline = 4, .priority = 1}}},
                  .costs = {.release = 1}}),
        "")
        << policy;
  }
}

// The job of c0 that is released while c1 runs keeps its deadline.
TEST(exhaustive_found, a_job_that_nobody_has_noticed_keeps_its_deadline_at_a_switch) {
  EXPECT_EQ(
      error_in({.policy = "edf",
                .rule = Rule::edf,
                .tasks = {{.task = {.execution = 1, .period = 5, .deadline = 2, .priority = 2},
                           .other = OracleTask{.execution = 1, .period = 5, .deadline = 16}},
                          {.task = {.execution = 3, .period = 8, .deadline = 6, .priority = 1},
                           .other = OracleTask{.execution = 4, .period = 8, .deadline = 7}}},
                .switches = true}),
      "");
}

// A job of c2 that takes the newest message leaves none for the next one, which ends at once: so
// c1 may be released twice before c0.
TEST(exhaustive_found, a_job_without_a_message_ends_at_once) {
  const ExhaustiveSet set{
      .policy = "rm",
      .rule = Rule::fp,
      .tasks = {{.task = {.execution = 1, .period = 4, .deadline = 6, .priority = 98},
                 .drop = Drop::stale},
                {.task = {.execution = 2, .period = 4, .deadline = 13, .priority = 98},
                 .trigger = {.writers = {0}}},
                {.task = {.execution = 2, .period = 4, .deadline = 11, .priority = 98},
                 .drop = Drop::all_but_one,
                 .trigger = {.writers = {1}}}}};
  const Reached reached = reach_all(options_of(set), set.tasks);
  const sim::Result run =
      sim::simulate(application_of(set), {.duration = nanoseconds{200}, .percentiles = false});
  EXPECT_EQ(error_in(run, reached), "");
  EXPECT_EQ(reached.responses[0], 6);
}

// The reason why a simulated run is none of those that the search finds; empty: it is one.
std::string error_in_simulation(const ExhaustiveSet& set, std::uint64_t seed) {
  const Reached reached = reach_all(options_of(set), set.tasks);
  EXPECT_TRUE(reached.complete);
  return error_in(sim::simulate(application_of(set), {.duration = nanoseconds{200},
                                                      .seed = seed,
                                                      .execution = sim::ExecutionTimes::drawn,
                                                      .percentiles = false}),
                  reached);
}

// c0 has computed and published. Before it ends come both jobs of c2, of which the second one is
// noticed when the first one has ended.
TEST(exhaustive_found, a_job_that_only_has_to_end_lets_every_job_of_its_messages_come_first) {
  EXPECT_EQ(error_in_simulation({.policy = "fp",
                                 .rule = Rule::fp,
                                 .tasks = {{.task = {.execution = 1, .period = 4, .priority = 3}},
                                           {.task = {.execution = 1, .period = 4, .priority = 5},
                                            .trigger = {.writers = {0}}},
                                           {.task = {.execution = 1, .period = 4, .priority = 5},
                                            .trigger = {.writers = {0, 1}}}}},
                                1),
            "");
}

// The job of c1 that an earlier job of c0 has released is noticed at the moment at which c0 has
// computed.
TEST(exhaustive_found, a_job_that_only_has_to_end_lets_come_first_what_is_noticed_then) {
  EXPECT_EQ(error_in_simulation(
                {.policy = "edf",
                 .rule = Rule::edf,
                 .tasks = {{.task = {.execution = 2, .period = 5, .deadline = 8, .priority = 2}},
                           {.task = {.execution = 2, .period = 5, .deadline = 5, .lag = 4},
                            .trigger = {.writers = {0}}}}},
                1),
            "");
}

// c1 publishes when it has begun. Nobody looks at that release before it has ended, so it does not
// pay for it, and ends in time.
TEST(exhaustive_found, a_message_interrupts_no_job_that_nobody_preempts) {
  EXPECT_EQ(
      error_in({.policy = "np-fp",
                .rule = Rule::np_fp,
                .tasks = {{.task = {.execution = 2, .period = 12, .deadline = 19, .priority = 5},
                           .anywhere = true},
                          {.task = {.execution = 1, .period = 12, .deadline = 6, .priority = 1},
                           .trigger = {.writers = {0}, .depth = 1},
                           .anywhere = true},
                          {.task = {.execution = 1, .period = 12, .deadline = 13, .priority = 3},
                           .trigger = {.writers = {1}, .depth = 3}}},
                .costs = {.dispatch = 1, .release = 1}}),
      "");
}

// c1 ends as soon as c2, which came first, waits: its next job is there in the same moment. The
// search once found 40 and more, with c1 late by a tick in each period.
TEST(exhaustive_found, the_next_job_is_there_as_soon_as_one_ends_that_gave_way) {
  const ExhaustiveSet set{
      .policy = "dm",
      .rule = Rule::fp,
      .tasks = {{.task = {.execution = 1, .period = 4, .deadline = 2, .priority = 98},
                 .drop = Drop::all_but_one},
                {.task = {.execution = 1, .period = 8, .deadline = 8, .priority = 96},
                 .suspension = 3,
                 .suspensions = 2},
                {.task = {.execution = 1, .period = 8, .deadline = 3, .priority = 97, .lag = 2},
                 .drop = Drop::stale,
                 .trigger = {.writers = {1}},
                 .suspension = 2}},
      .core = {.interrupt_period = 9, .interrupt_duration = 1, .burst = 1}};
  const Reached reached = reach_all(options_of(set), set.tasks);
  EXPECT_TRUE(reached.complete);
  EXPECT_EQ(reached.responses[1], 11);
}

// It wakes while c1 has the core, and waits again as soon as it has it: the latency is 10, and the
// search itself once found 9.
TEST(exhaustive_found, a_job_may_wait_twice_and_compute_next_to_nothing_in_between) {
  const ExhaustiveSet set{
      .policy = "rm",
      .rule = Rule::fp,
      .tasks = {{.task = {.execution = 1, .period = 12, .deadline = 10, .priority = 97},
                 .reads = {{.writers = {1}, .depth = 2}},
                 .suspension = 3,
                 .suspensions = 2},
                {.task = {.execution = 1, .period = 5, .deadline = 2, .priority = 98},
                 .suspension = 1,
                 .suspensions = 1}},
      .chain = {1, 0}};
  const Reached reached = reach_all(options_of(set), set.tasks);
  ASSERT_TRUE(reached.complete);
  EXPECT_GE(reached.latency, 10);
  EXPECT_EQ(error_in(set), "");
}

// The deadlines of c0 and c1 cannot both be kept, whatever c2 does, if they compute as long as they
// may. Where c1 ended at 6, c2 once waited for them all the same until they came; the search, which
// asks the policy at every tick, let it start at 7.
TEST(exhaustive_found, no_job_waits_for_deadlines_that_are_lost_in_any_case) {
  EXPECT_EQ(
      error_in_simulation(
          {.policy = "p-rm",
           .rule = Rule::p_rm,
           .tasks =
               {{.task = {.execution = 2, .period = 8, .deadline = 5, .priority = 98}},
                {.task = {.execution = 5, .period = 8, .deadline = 5, .priority = 98, .best = 3}},
                {.task = {.execution = 1, .period = 10, .deadline = 4, .priority = 97}}}},
          1),
      "");
}

// c0 wakes while c1 runs: of equal priorities the kernel goes on with the one that has the core.
// c1 was once simulated as preempted, which cost it a tick.
TEST(exhaustive_found, a_job_that_wakes_preempts_none_of_its_own_priority) {
  const ExhaustiveSet set{
      .policy = "fp",
      .rule = Rule::fp,
      .tasks = {{.task = {.execution = 1, .period = 12, .priority = 5, .offset = 1},
                 .suspension = 3,
                 .suspensions = 2},
                {.task = {.execution = 5, .period = 12, .priority = 5},
                 .suspension = 1,
                 .suspensions = 2}},
      .costs = {.preemption = 1}};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(error_in_simulation(set, seed), "") << seed;
  }
}

// The scenario changes when c1, which the end of c0 has released, is noticed and has not computed:
// it keeps its priority, and c2, which it releases, comes before its end.
TEST(exhaustive_found, a_job_is_noticed_right_before_a_switch) {
  const OracleTask high{.execution = 1, .period = 12, .priority = 5};
  const OracleTask low{.execution = 1, .period = 12, .priority = 4};
  const ExhaustiveSet set{.policy = "fp",
                          .rule = Rule::fp,
                          .tasks = {{.task = {.execution = 1, .period = 12, .priority = 6}},
                                    {.task = high, .trigger = {.writers = {0}}, .other = low},
                                    {.task = high, .trigger = {.writers = {1}}, .other = low}},
                          .switches = true};
  const Reached reached = reach_all(options_of(set), set.tasks);
  EXPECT_TRUE(reached.complete);
  application::Application app = application_of(set);
  app.switches = {{.at = nanoseconds{5}, .scenario = "other"},
                  {.at = nanoseconds{13}, .scenario = "one"}};
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{30}, .percentiles = false});
  EXPECT_EQ(error_in(run, reached), "");
  EXPECT_EQ(run.callbacks[1].response.max, nanoseconds{2});
}

}  // namespace
}  // namespace takt::analysis
