// SPDX-License-Identifier: Apache-2.0
//
// Scenarios and strategies, up to the tables that an executor switches between.
#include "takt/sched/compiled.hpp"

#include "sched/support.hpp"

namespace takt::sched {
namespace {

// Most recently released first: stands for a user's own comparator.
bool newest_first(const Job& a, const Job& b) {
  return a.release > b.release;
}

// The thesis's Listing A.1.
SchedulingStrategy listing_a1() {
  SchedulingScenario usual{"default_scenario"};
  usual.add_timer("scheduling_id_timer3", 98, 50ms, {.subscribes = {"topic1"}});
  usual.add_timer("scheduling_id_timer4", 97, 20ms, {.publishes = {"topic1"}});
  usual.set_scheduling_policy(non_preemptive_edf());

  auto special = std::make_shared<SchedulingScenario>("special_scenario");
  special->add_timer("scheduling_id_timer3", 98, 40ms, {.subscribes = {"topic1"}});
  special->add_timer("scheduling_id_timer4", 97, 20ms, {.publishes = {"topic1"}});
  special->set_scheduling_policy_function(&newest_first);

  SchedulingStrategy strategy;
  strategy.add_scenario(std::move(usual));
  strategy.add_scenario(special);
  strategy.set_default_scenario("default_scenario");
  return strategy;
}

std::vector<Task> listing_tasks() {
  return {timer("scheduling_id_timer3", 100ms), timer("scheduling_id_timer4", 100ms)};
}

TEST(CompiledStrategy, holds_the_tables_of_listing_a1) {
  const CompiledStrategy compiled{listing_tasks(), listing_a1(), nullptr};
  ASSERT_EQ(compiled.scenarios().size(), 2U);
  EXPECT_EQ(compiled.default_scenario(), 0U);
  const CompiledScenario& usual = compiled.scenarios()[0];
  const CompiledScenario& special = compiled.scenarios()[1];
  EXPECT_EQ(usual.name(), "default_scenario");
  EXPECT_EQ(usual.policy().name(), "np-edf");
  EXPECT_EQ(usual.parameters(0).period, 50ms);
  EXPECT_EQ(usual.parameters(0).priority, 98);
  EXPECT_EQ(special.policy().name(), "special_scenario_policy");
  EXPECT_EQ(special.parameters(0).period, 40ms);
  EXPECT_EQ(special.parameters(1).period, 20ms);
  ASSERT_EQ(compiled.tasks()[0].reads.size(), 1U);
  EXPECT_EQ(compiled.tasks()[0].reads[0].topic, "topic1");
  EXPECT_EQ(compiled.tasks()[1].writes, (std::vector<std::string>{"topic1"}));
  EXPECT_EQ(compiled.find_scenario("special_scenario"), 1U);
  EXPECT_EQ(compiled.find_scenario("no such scenario"), std::nullopt);
  EXPECT_EQ(compiled.find_task("scheduling_id_timer4"), TaskIndex{1});
  EXPECT_EQ(compiled.find_task("x"), std::nullopt);
}

TEST(CompiledStrategy, changes_what_a_scenario_names_and_nothing_else) {
  Task task = timer("a", 10ms, 1ms, 5);
  task.parameters.deadline = 8ms;
  task.reads = {{.topic = "x", .max_age = 30ms}};
  TaskChange change{.task = "a"};
  change.priority = 6;
  change.offset = 2ms;
  change.expected_execution = 3ms;
  change.budget = 4ms;
  change.overrun = Overrun::catch_up;
  change.active = false;
  change.reads = {{.topic = "x", .max_age = 20ms}, {.topic = "y"}};
  change.writes = {"z"};
  SchedulingStrategy strategy;
  strategy.add_scenario(SchedulingScenario{"as declared"});
  strategy.add_scenario(SchedulingScenario{"changed"}.add_task(change));
  const CompiledStrategy compiled{
      {task}, strategy, fixed_priority(), {.external_topics = {"x", "y"}}};
  const TaskParameters& declared = compiled.scenarios()[0].parameters(0);
  const TaskParameters& changed = compiled.scenarios()[1].parameters(0);
  EXPECT_EQ(declared.priority, 5);
  EXPECT_EQ(declared.overrun, Overrun::skip);
  EXPECT_TRUE(declared.active);
  EXPECT_EQ(changed.period, 10ms);
  EXPECT_EQ(changed.deadline, 8ms);
  EXPECT_EQ(changed.priority, 6);
  EXPECT_EQ(changed.offset, 2ms);
  EXPECT_EQ(changed.expected_execution, 3ms);
  EXPECT_EQ(changed.budget, 4ms);
  EXPECT_EQ(changed.overrun, Overrun::catch_up);
  EXPECT_FALSE(changed.active);
  EXPECT_EQ(compiled.scenarios()[0].age_constraints(0).front().max_age, 30ms);
  EXPECT_EQ(compiled.scenarios()[1].age_constraints(0).front().max_age, 20ms);
  EXPECT_EQ(compiled.tasks()[0].reads.size(), 2U);
  EXPECT_EQ(compiled.tasks()[0].writes, (std::vector<std::string>{"z"}));
}

TEST(CompiledStrategy, places_tasks_by_their_heaviest_scenario_on_cores_that_never_change) {
  const std::vector<Task> tasks{timer("a", 10ms, 1ms, 5), timer("b", 10ms, 2ms, 6),
                                timer("c", 10ms, 3ms, 7)};
  SchedulingStrategy strategy;
  strategy.add_scenario(
      SchedulingScenario{"busy"}.add_task({.task = "a", .priority = 50, .period = 2ms}));
  strategy.add_scenario(SchedulingScenario{"calm"});
  const CompiledStrategy compiled{tasks, strategy, fixed_priority(), {.cpus = {4, 5}}};
  EXPECT_EQ(compiled.tasks()[0].cpu, 4);  // 1 of 2 ms, alone
  EXPECT_EQ(compiled.tasks()[1].cpu, 5);
  EXPECT_EQ(compiled.tasks()[2].cpu, 5);
  EXPECT_EQ(compiled.priorities(compiled.cores()[0]), (std::vector<int>{5, 50}));
  EXPECT_EQ(compiled.priorities(compiled.cores()[1]), (std::vector<int>{6, 7}));
  EXPECT_EQ(compiled.depth(compiled.cores()[1]), 2U);
}

// A job of priority 4, one of 5 and one of 6 across a switch, while each scenario has two levels.
TEST(CompiledStrategy, counts_the_jobs_that_may_be_started_across_switches) {
  const std::vector<Task> tasks{timer("a", 10ms, 1ms, 5), timer("b", 20ms, 1ms, 5),
                                timer("c", 30ms, 1ms, 6)};
  SchedulingStrategy strategy;
  strategy.add_scenario(SchedulingScenario{"one"});
  strategy.add_scenario(SchedulingScenario{"two"}
                            .add_task({.task = "a", .priority = 4})
                            .add_task({.task = "b", .priority = 4}));
  const CompiledStrategy compiled{tasks, strategy, fixed_priority()};
  EXPECT_EQ(compiled.scenarios()[0].ceilings().depth(compiled.cores()[0].tasks), 2U);
  EXPECT_EQ(compiled.depth(compiled.cores()[0]), 3U);
}

TEST(CompiledStrategy, without_scenarios_is_one_scenario_named_default) {
  const CompiledStrategy compiled{{timer("a", 10ms)}, rate_monotonic()};
  ASSERT_EQ(compiled.scenarios().size(), 1U);
  EXPECT_EQ(compiled.find_scenario("default"), 0U);
  EXPECT_EQ(compiled.scenarios()[0].parameters(0).priority, 98);
  EXPECT_EQ(compiled.tasks()[0].cpu, 0);
}

TEST(CompiledScenario, makes_jobs_with_absolute_deadlines) {
  Task task = timer("a", 10ms, 1ms, 5);
  task.parameters.deadline = 4ms;
  const CompiledStrategy compiled{
      {task, message("m", "x", 3)}, fixed_priority(), {.external_topics = {"x"}}};
  const CompiledScenario& scenario = compiled.scenarios()[0];
  const Job job = scenario.job(0, 7, at(100ms));
  EXPECT_EQ(job.task, 0U);
  EXPECT_EQ(job.index, 7U);
  EXPECT_EQ(job.priority, 5);
  EXPECT_EQ(job.release, at(100ms));
  EXPECT_EQ(job.deadline, at(104ms));
  EXPECT_EQ(job.period, 10ms);
  EXPECT_EQ(job.expected_execution, 1ms);
  EXPECT_EQ(scenario.job(1, 0, at(1ms)).deadline, TimePoint::max());
}

TEST(CompiledScenario, lists_age_constraints_by_reader) {
  std::vector<Task> tasks{timer("a", 10ms, 1ms, 5), timer("b", 10ms, 1ms, 5),
                          timer("c", 10ms, 1ms, 5)};
  tasks[0].reads = {{.topic = "x", .max_age = 1ms}, {.topic = "y", .max_age = 2ms}};
  tasks[2].reads = {{.topic = "x", .max_age = 3ms}};
  const CompiledStrategy compiled{tasks, fixed_priority(), {.external_topics = {"x", "y"}}};
  const CompiledScenario& scenario = compiled.scenarios()[0];
  ASSERT_EQ(scenario.age_constraints(0).size(), 2U);
  EXPECT_EQ(scenario.age_constraints(0)[1].topic, "y");
  EXPECT_TRUE(scenario.age_constraints(1).empty());
  ASSERT_EQ(scenario.age_constraints(2).size(), 1U);
  EXPECT_EQ(scenario.age_constraints(2)[0].max_age, 3ms);
}

TEST(Scenario, refuses_what_it_cannot_mean) {
  EXPECT_EQ(error_of([] { SchedulingScenario{""}; }),
            "scenario: it has no name. Fix: give it one: it is switched to by name.");
  EXPECT_EQ(
      error_of([] { SchedulingScenario{"dock"}.add_timer("a", 1, 1ms).add_timer("a", 2, 1ms); }),
      "scenario 'dock': it already has task 'a'. Fix: add each task once, with all that "
      "changes.");
  EXPECT_EQ(error_of([] { SchedulingScenario{"dock"}.set_scheduling_policy(nullptr); }),
            "scenario 'dock': its policy is null. Fix: pass a policy such as edf(), or leave the "
            "call out.");
}

TEST(Strategy, refuses_scenarios_that_are_missing_or_named_alike) {
  SchedulingStrategy strategy;
  strategy.add_scenario(SchedulingScenario{"dock"});
  EXPECT_EQ(error_of([&] { strategy.add_scenario(SchedulingScenario{"dock"}); }),
            "scenario 'dock': the strategy already has a scenario of this name. Fix: give each "
            "scenario a name of its own.");
  EXPECT_EQ(error_of([&] { strategy.add_scenario(ScenarioPtr{}); }),
            "strategy: a scenario is null. Fix: add scenarios that exist.");
  EXPECT_EQ(error_of([&] { strategy.set_default_scenario("dok"); }),
            "scenario 'dok': the strategy has no such scenario. Fix: did you mean 'dock'?.");
  EXPECT_EQ(strategy.find("dock"), 0U);
  EXPECT_EQ(strategy.find("dok"), std::nullopt);
}

TEST(CompiledStrategy, says_nothing_of_tasks_that_may_be_absent) {
  SchedulingStrategy strategy;
  strategy.add_scenario(SchedulingScenario{"dock"}
                            .add_task({.task = "arm.grip", .priority = 9, .reads = {{"/scan"}}})
                            .add_timer("guard.brake", 5, 2ms));
  const auto compiled = [&](std::vector<Task> tasks) {
    return CompiledStrategy{std::move(tasks), strategy, edf(), {.external_topics = {"/scan"}}};
  };
  EXPECT_EQ(error_of([&] { compiled({timer("guard.brake", 10ms)}); }),
            "scenario 'dock': it names task 'arm.grip', which does not exist. Fix: choose one of "
            "'guard.brake'.");
  strategy.allow_absent_tasks();
  const CompiledStrategy without = compiled({timer("guard.brake", 10ms)});
  EXPECT_EQ(without.scenarios()[0].parameters(0).priority, 5);
  EXPECT_EQ(without.scenarios()[0].parameters(0).period, 2ms);
  const CompiledStrategy with = compiled({timer("arm.grip", 10ms)});
  EXPECT_EQ(with.scenarios()[0].parameters(0).priority, 9);
  EXPECT_EQ(with.tasks()[0].reads.size(), 1U);
}

TEST(CompiledStrategy, refuses_with_the_scenario_and_the_task_in_the_message) {
  const auto compiled = [](SchedulingScenario scenario, const PolicyPtr& policy) {
    return error_of([&] {
      SchedulingStrategy strategy;
      strategy.add_scenario(std::move(scenario));
      const CompiledStrategy result{{timer("guard.brake", 10ms)}, strategy, policy};
    });
  };
  EXPECT_EQ(compiled(SchedulingScenario{"dock"}.add_timer("guard.break", 5, 1ms), edf()),
            "scenario 'dock': it names task 'guard.break', which does not exist. Fix: did you "
            "mean 'guard.brake'?.");
  EXPECT_EQ(compiled(SchedulingScenario{"dock"}.add_timer("guard.brake", 99, 1ms), edf()),
            "scenario 'dock', task 'guard.brake': its priority 99 is outside of 1..98. Fix: "
            "choose 1 (lowest) to 98 (highest); 99 is left to the kernel.");
  EXPECT_EQ(compiled(SchedulingScenario{"dock"}, nullptr),
            "scenario 'dock': neither it nor the executor has a policy. Fix: pass one to "
            "set_scheduling_policy(), such as edf().");
  EXPECT_EQ(error_of([] { CompiledStrategy({}, SchedulingStrategy{}, edf()); }),
            "strategy: it has no scenarios. Fix: add at least one.");
  EXPECT_EQ(error_of([] { CompiledStrategy({}, PolicyPtr{}); }),
            "executor: its policy is null. Fix: pass a policy such as edf().");
}

}  // namespace
}  // namespace takt::sched
