// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/analyse.hpp"

#include <gtest/gtest.h>

#include "analysis/documents.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

TEST(analyse, exact_where_the_run_in_which_all_start_together_shows_it) {
  const Report report = analyse_json(app(timer("a", 7, 3, 3) + "," + timer("b", 12, 3, 2) + "," +
                                         timer("c", 20, 5, 1, ", 'deadline': 19")));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(callback(scenario, "c").response, 20ns);
  EXPECT_TRUE(callback(scenario, "c").exact);
  EXPECT_EQ(callback(scenario, "c").verdict, Verdict::misses);
  EXPECT_EQ(callback(scenario, "b").verdict, Verdict::meets);
  EXPECT_EQ(report.verdict, Verdict::misses);
}

TEST(analyse, with_offsets_a_bound_above_the_deadline_proves_nothing) {
  const Report report =
      analyse_json(app(timer("a", 7, 3, 3, ", 'offset': 3") + "," + timer("b", 12, 3, 2) + "," +
                       timer("c", 20, 5, 1, ", 'deadline': 19")));
  EXPECT_EQ(report.verdict, Verdict::not_proved);
}

// The end of `scan` varies between 2 and 6, so its messages come 4 closer than its period at worst;
// `plan` on the other core is held up by `log` for one job.
TEST(analyse, messages_inherit_period_and_jitter_from_their_writers) {
  const std::string first = timer("top", 20, 4, 90, ", 'cpu': 0") + "," +
                            "{'name': 'scan', 'period': 20, 'priority': 80, 'cpu': 0, "
                            "'execution': {'best': 2, 'worst': 2}, 'writes': ['scan']}";
  const std::string second =
      message("plan", "scan", 3, 70, ", 'cpu': 1") + "," + timer("low", 100, 5, 10, ", 'cpu': 1");
  const Report report = analyse_json(app(first + "," + second, ", 'cpus': [0, 1]"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(callback(scenario, "scan").response, 6ns);
  EXPECT_EQ(callback(scenario, "plan").period, 20ns);
  EXPECT_EQ(callback(scenario, "plan").jitter, 4ns);
  EXPECT_EQ(callback(scenario, "plan").response, 3ns);
  EXPECT_EQ(callback(scenario, "low").response, 8ns);
  EXPECT_FALSE(callback(scenario, "low").exact);
}

// Below all others, as with the lowest priority.
TEST(analyse, messages_without_a_deadline_come_last_where_deadlines_decide) {
  const std::string tasks = timer("scan", 20, 4, 90, ", 'writes': ['scan']") + "," +
                            timer("plan", 50, 6, 80) + "," + message("log", "scan", 5, 10);
  for (const auto& [dynamic, fixed] : {std::pair{"edf", "fp"}, std::pair{"np-edf", "np-fp"}}) {
    const auto policy = [](const char* name) { return ", 'policy': '" + std::string{name} + "'"; };
    const Report by_deadline = analyse_json(app(tasks, policy(dynamic)));
    const Report by_priority = analyse_json(app(tasks, policy(fixed)));
    EXPECT_EQ(by_deadline.verdict, Verdict::meets);
    const CallbackReport& log = callback(by_deadline.scenarios.front(), "log");
    EXPECT_FALSE(log.deadline);
    ASSERT_TRUE(log.response);
    EXPECT_EQ(log.response, callback(by_priority.scenarios.front(), "log").response) << dynamic;
  }
}

TEST(analyse, two_writers_release_a_callback_as_often_as_both) {
  const std::string writers =
      timer("a", 10, 1, 90, ", 'writes': ['x']") + "," + timer("b", 10, 1, 80, ", 'writes': ['x']");
  const Report report =
      analyse_json(app(writers + "," + message("m", "x", 2, 70) + "," + timer("low", 50, 1, 1)));
  const ScenarioReport& scenario = report.scenarios.front();
  // Both messages may come at once: the second one waits for the first one, and for the writers
  // that start together, of which one has ended before its message comes.
  EXPECT_EQ(callback(scenario, "m").response, 5ns);
  EXPECT_EQ(callback(scenario, "low").response, 7ns);
  EXPECT_NEAR(scenario.cores.front().utilization, 0.62, 1e-9);
}

TEST(analyse, a_circle_of_messages_needs_a_least_distance) {
  const std::string start = timer("start", 100, 1, 50, ", 'writes': ['ping']");
  const std::string circle = message("ping", "ping", 1, 40, ", 'writes': ['pong']") + ",";
  const std::string back = message("pong", "pong", 1, 40, ", 'writes': ['ping']");
  const Report endless = analyse_json(app(start + "," + circle + back));
  EXPECT_EQ(endless.verdict, Verdict::not_proved);
  EXPECT_EQ(callback(endless.scenarios.front(), "start").verdict, Verdict::meets);
  const Report bounded = analyse_json(
      app(start + "," + message("ping", "ping", 1, 40, ", 'period': 20, 'writes': ['pong']") + "," +
          message("pong", "pong", 1, 40, ", 'period': 20, 'writes': ['ping']")));
  EXPECT_EQ(bounded.verdict, Verdict::meets);
}

TEST(analyse, overheads_are_in_every_job_and_releases_interrupt_everybody) {
  const std::string tasks = timer("a", 100, 10, 2) + "," + timer("b", 200, 20, 1);
  const Report report =
      analyse_json(app(tasks, ", 'overheads': {'dispatch': 2, 'preemption': 1, 'release': 3}"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(callback(scenario, "a").wcet, 13ns);
  EXPECT_EQ(callback(scenario, "a").response, 13ns + 3ns + 3ns);
  EXPECT_EQ(callback(scenario, "b").response, 23ns + 13ns + 3ns + 3ns);
  EXPECT_TRUE(report.remarks.empty());
}

TEST(analyse, a_group_blocks_the_tasks_below_its_ceiling) {
  const Report report = analyse_json(app(timer("high", 100, 5, 90, ", 'group': 'g'") + "," +
                                         timer("middle", 100, 5, 50) + "," +
                                         timer("low", 100, 20, 10, ", 'group': 'g'")));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(callback(scenario, "high").blocking, 19ns);
  EXPECT_EQ(callback(scenario, "high").response, 24ns);
  EXPECT_EQ(callback(scenario, "middle").response, 29ns);
  EXPECT_EQ(callback(scenario, "low").response, 30ns);
}

TEST(analyse, each_scenario_has_its_own_parameters) {
  const Report report = analyse_json(
      app(timer("a", 20, 5, 2) + "," + timer("b", 40, 10, 1),
          ", 'scenarios': [{'name': 'calm'}, {'name': 'busy', 'policy': 'edf', 'tasks': [{'task': "
          "'a', 'period': 6}]}, {'name': 'quiet', 'tasks': [{'task': 'a', 'active': false}]}]"));
  ASSERT_EQ(report.scenarios.size(), 3U);
  EXPECT_EQ(report.scenarios[0].verdict, Verdict::meets);
  EXPECT_EQ(report.scenarios[1].verdict, Verdict::misses);
  EXPECT_EQ(report.scenarios[1].policy, "edf");
  EXPECT_EQ(report.scenarios[2].callbacks.size(), 1U);
  EXPECT_EQ(callback(report.scenarios[2], "b").response, 10ns);
}

// Davare et al. 2007: of the stages after the first one the period and the response; where the
// writer always runs first, its response is not waited for (Dürr et al. 2019).
TEST(analyse, latency_and_age_of_a_chain_of_timers) {
  const std::string down = timer("a", 10, 2, 90, ", 'writes': ['x']") + "," +
                           timer("b", 20, 3, 80, ", 'reads': [{'topic': 'x'}], 'writes': ['y']") +
                           "," + timer("c", 40, 4, 70, ", 'reads': [{'topic': 'y'}]");
  const std::string chain =
      ", 'chains': [{'name': 'abc', 'callbacks': ['a', 'b', 'c'], "
      "'max_latency': 69}]";
  const ChainReport first = analyse_json(app(down, chain)).scenarios.front().chains.front();
  EXPECT_EQ(first.latency, 20ns + 40ns + 9ns);
  EXPECT_EQ(first.verdict, Verdict::meets);
  EXPECT_EQ(first.reaction, 10ns + 69ns);
  EXPECT_EQ(first.age, 10ns + 20ns + 9ns);
  const std::string up = timer("a", 10, 2, 70, ", 'writes': ['x']") + "," +
                         timer("b", 20, 3, 80, ", 'reads': [{'topic': 'x'}], 'writes': ['y']") +
                         "," + timer("c", 40, 4, 90, ", 'reads': [{'topic': 'y'}]");
  const Report report = analyse_json(app(up, chain));
  const ChainReport second = report.scenarios.front().chains.front();
  EXPECT_EQ(second.latency, (9ns + 20ns) + (7ns + 40ns) + 4ns);
  EXPECT_EQ(second.verdict, Verdict::not_proved);
  EXPECT_EQ(report.verdict, Verdict::not_proved);
  EXPECT_EQ(report.scenarios.front().deadlines, Verdict::meets);
}

TEST(analyse, latency_of_a_chain_of_messages_is_what_they_compute_together) {
  const std::string tasks = timer("a", 10, 2, 90, ", 'writes': ['x']") + "," +
                            message("b", "x", 3, 80, ", 'writes': ['y']") + "," +
                            message("c", "y", 1, 70);
  const ChainReport chain =
      analyse_json(app(tasks, ", 'chains': [{'name': 'abc', 'callbacks': ['a', 'b', 'c']}]"))
          .scenarios.front()
          .chains.front();
  // The sum of the responses, each with what comes before it, would be 2 + 5 + 6.
  EXPECT_EQ(chain.latency, 2ns + 3ns + 1ns);
}

TEST(analyse, age_of_what_is_read) {
  const auto age_of = [](int source, int reader, int max_age) {
    return analyse_json(app(timer("s", 10, 2, source, ", 'writes': ['x']") + "," +
                            timer("r", 20, 3, reader,
                                  ", 'reads': [{'topic': 'x', 'max_age': " +
                                      std::to_string(max_age) + "}]")))
        .scenarios.front()
        .ages.front();
  };
  EXPECT_EQ(age_of(90, 80, 30).age, 10ns);
  EXPECT_EQ(age_of(80, 90, 30).age, 10ns + 5ns);
  EXPECT_EQ(age_of(80, 90, 30).verdict, Verdict::meets);
}

// Nor is there one of what nobody writes while nobody reads it: it would keep the scenario
// unproved.
TEST(analyse, there_is_no_age_where_the_reader_is_inactive) {
  const std::string scenarios =
      ", 'scenarios': [{'name': 'on'}, {'name': 'off', 'tasks': [{'task': 's', 'active': false},"
      " {'task': 'r', 'active': false}]}]";
  const Report report =
      analyse_json(app(timer("s", 10, 2, 90, ", 'writes': ['x']") + "," +
                           timer("r", 20, 3, 80, ", 'reads': [{'topic': 'x', 'max_age': 30}]"),
                       scenarios));
  EXPECT_EQ(report.scenarios[0].ages.size(), 1U);
  EXPECT_TRUE(report.scenarios[1].ages.empty());
  EXPECT_EQ(report.scenarios[1].verdict, Verdict::meets);
}

TEST(analyse, early_releases_keep_an_age_and_cost_time) {
  const Report report =
      analyse_json(app(timer("s", 50, 2, 80, ", 'writes': ['x']") + "," +
                       timer("r", 20, 3, 80, ", 'reads': [{'topic': 'x', 'max_age': 25}]") + "," +
                       timer("low", 100, 5, 10)));
  const ScenarioReport& scenario = report.scenarios.front();
  ASSERT_EQ(scenario.ages.size(), 1U);
  EXPECT_EQ(scenario.ages.front().verdict, Verdict::meets);
  EXPECT_LE(*scenario.ages.front().age, 25ns);
  // One release for each job of the reader, besides its own; the first one is asked for at the
  // start, half a period of the reader late, the next one comes in time.
  EXPECT_EQ(callback(scenario, "low").response, 2ns + 2 * 2ns + 3ns + 5ns);
  // An early job is due when its reader is released; at the start it cannot be in time.
  EXPECT_EQ(callback(scenario, "s").verdict, Verdict::not_proved);
  EXPECT_TRUE(contains(scenario.remarks, "There is none with a max_age of 100 ns"));
}

TEST(analyse, no_release_is_early_where_the_remark_says_so) {
  const auto with = [](int deadline, int max_age) {
    return analyse_json(app(timer("s", 50, 2, 80,
                                  ", 'writes': ['x'], 'deadline': " + std::to_string(deadline)) +
                            "," +
                            timer("r", 20, 3, 80,
                                  ", 'reads': [{'topic': 'x', 'max_age': " +
                                      std::to_string(max_age) + "}]")))
        .verdict;
  };
  EXPECT_EQ(with(50, 99), Verdict::not_proved);
  EXPECT_EQ(with(50, 100), Verdict::meets);
  EXPECT_EQ(with(10, 60), Verdict::meets);
}

// Deadline-monotonic is not optimal for deadlines above periods (Lehoczky 1990); Audsley's
// assignment finds the other order.
TEST(analyse, audsley_finds_priorities_where_the_declared_ones_fail) {
  const Report report =
      analyse_json(app(timer("a", 70, 26, 1) + "," + timer("b", 100, 40, 2, ", 'deadline': 90")));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(scenario.deadlines, Verdict::meets);
  const Report wrong = analyse_json(
      app(timer("a", 10, 4, 1) + "," + timer("b", 40, 12, 2) + "," + timer("c", 80, 10, 3)));
  EXPECT_NE(wrong.verdict, Verdict::meets);
  const auto& found = wrong.scenarios.front().priorities;
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.front().first, "a");
  EXPECT_EQ(found.front().second, 98);
}

TEST(analyse, nothing_is_proposed_where_nothing_helps) {
  const Report report = analyse_json(app(timer("a", 10, 6, 2) + "," + timer("b", 10, 6, 1)));
  EXPECT_EQ(report.verdict, Verdict::misses);
  EXPECT_TRUE(report.scenarios.front().priorities.empty());
  EXPECT_TRUE(report.scenarios.front().cpus.empty());
}

// Worst-fit puts a half and a third onto each core, and the last third fits on neither; first-fit
// fills the one with halves and the other with thirds.
TEST(analyse, other_cores_are_proposed_where_the_executors_placement_fails) {
  for (const std::string policy : {"edf", "np-edf", "cw-edf", "p-rm"}) {
    const Report report = analyse_json(app(timer("a", 10, 5, 1) + "," + timer("b", 10, 5, 1) + "," +
                                               timer("c", 30, 10, 1) + "," + timer("d", 30, 10, 1) +
                                               "," + timer("e", 30, 10, 1),
                                           ", 'cpus': [0, 1], 'policy': '" + policy + "'"));
    EXPECT_EQ(report.verdict, Verdict::misses) << policy;
    auto cpus = report.scenarios.front().cpus;
    std::ranges::sort(cpus);
    const std::vector<std::pair<std::string, int>> expected = {
        {"a", 0}, {"b", 0}, {"c", 1}, {"d", 1}, {"e", 1}};
    EXPECT_EQ(cpus, expected) << policy;
  }
}

TEST(analyse, sensitivity_is_the_factor_up_to_which_all_is_guaranteed) {
  const Report report = analyse_json(
      app(timer("a", 1000, 250, 2) + "," + timer("b", 2000, 500, 1), ", 'policy': 'edf'"));
  const Sensitivity& sensitivity = *report.scenarios.front().sensitivity;
  EXPECT_NEAR(*sensitivity.all, 2.0, 0.002);
  EXPECT_NEAR(sensitivity.callbacks[0].second, 3.0, 0.003);
  EXPECT_NEAR(sensitivity.callbacks[1].second, 3.0, 0.003);
}

TEST(analyse, policies_that_idle_on_purpose_are_explored) {
  const std::string two = timer("a", 10, 4, 1) + "," + timer("b", 40, 12, 1);
  const std::string varying = ",{'name': 'c', 'period': 40, 'execution': {'best': 1, 'worst': 2}}";
  const Report report = analyse_json(app(two + varying, ", 'policy': 'cw-edf'"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(report.verdict, Verdict::meets);
  EXPECT_EQ(callback(scenario, "a").response, 10ns);
  EXPECT_TRUE(callback(scenario, "a").exact);
  EXPECT_TRUE(callback(scenario, "c").response);
  EXPECT_EQ(callback(scenario, "c").bound_by, "schedule graph (Nasri & Brandenburg 2017), eq. 8");
  EXPECT_GE(*scenario.sensitivity->all, 1);
  EXPECT_TRUE(accepts(parsed(app(two + varying, ", 'policy': 'cw-edf'"))));
  // With overheads the responses are bounds.
  const Report costs =
      analyse_json(app(timer("a", 100, 30, 1) + "," + timer("b", 400, 100, 1),
                       ", 'policy': 'cw-edf', 'overheads': {'dispatch': 2, 'release': 1}"));
  EXPECT_EQ(costs.verdict, Verdict::meets);
  EXPECT_FALSE(callback(costs.scenarios.front(), "a").exact);
  // Both releases are noticed before the first job of a, and cost it 1 each.
  EXPECT_EQ(callback(costs.scenarios.front(), "b").response, 34ns + 102ns);
}

TEST(analyse, a_missed_deadline_of_a_schedule_graph_comes_with_its_run) {
  // No job of 13 fits between two jobs of 4 every 10.
  const std::string b = "{'name': 'b', 'period': 40, 'execution': {'best': 1, 'worst': 13}}";
  const Report report = analyse_json(app(timer("a", 10, 4, 1) + "," + b, ", 'policy': 'p-rm'"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(report.verdict, Verdict::misses);
  EXPECT_EQ(callback(scenario, "a").verdict, Verdict::not_proved);
  EXPECT_EQ(callback(scenario, "b").verdict, Verdict::misses);
  EXPECT_EQ(scenario.remarks.front(),
            "core 0: 'b', released at 0 ns, starts at 34 ns and computes for 13 ns, which is too "
            "late; before it 'a' at 30 ns for 4 ns");
}

// One run is looked at then, which may show a missed deadline, but proves nothing.
TEST(analyse, a_core_without_a_schedule_graph_is_not_proved_and_says_why) {
  const auto verdict_of = [](const std::string& callbacks, const std::string& more,
                             const std::string& reason) {
    const Report report = analyse_json(app(callbacks, ", 'policy': 'cw-edf'" + more));
    EXPECT_TRUE(contains(report.scenarios.front().remarks, reason)) << reason;
    return report.verdict;
  };
  const std::string writer = timer("a", 10, 4, 1, ", 'writes': ['x']");
  EXPECT_EQ(verdict_of(writer + "," + message("m", "x", 1, 1, ", 'deadline': 10") + "," +
                           timer("b", 40, 7, 1),
                       "", "'m' is released by messages"),
            Verdict::not_proved);
  EXPECT_EQ(verdict_of(writer + "," + message("m", "x", 1, 1, ", 'deadline': 10") + "," +
                           timer("b", 40, 13, 1),
                       "", "'m' is released by messages"),
            Verdict::misses);
  EXPECT_EQ(verdict_of(timer("a", 10, 4, 1) + "," + timer("b", 40, 8, 1),
                       ", 'scenarios': [{'name': 'one'}, {'name': 'two'}]",
                       "a switch of the scenario may shift its timers"),
            Verdict::not_proved);
  EXPECT_EQ(verdict_of(timer("a", 999'983, 200'000, 1, ", 'deadline': 500000") + "," +
                           timer("b", 999'979, 400'000, 1),
                       "", "jobs are released before the timers repeat themselves"),
            Verdict::not_proved);
}

// Sensor rates beside each other: the hyperperiod has 400 million jobs.
TEST(analyse, a_core_that_keeps_every_deadline_without_idling_is_never_left_idle) {
  const std::string sensors = timer("camera", 33'333'333, 3'000'000, 2) + "," +
                              timer("lidar", 100'000'000, 8'000'000, 1) + "," +
                              timer("imu", 10'000'000, 1'000'000, 4, ", 'writes': ['x']") + "," +
                              message("filter", "x", 500'000, 3, ", 'period': 12000000");
  for (const std::string policy : {"cw-edf", "p-rm"}) {
    const std::string same = policy == "p-rm" ? "np-fp" : "np-edf";
    const std::string chain = ", 'chains': [{'name': 'c', 'callbacks': ['imu', 'filter']}]";
    const Report report = analyse_json(app(sensors, chain + ", 'policy': '" + policy + "'"));
    const Report without = analyse_json(app(sensors, chain + ", 'policy': '" + same + "'"));
    EXPECT_EQ(report.verdict, Verdict::meets);
    const ScenarioReport& scenario = report.scenarios.front();
    for (const char* const name : {"camera", "lidar", "imu", "filter"}) {
      EXPECT_FALSE(callback(scenario, name).exact);
      EXPECT_TRUE(callback(scenario, name).bound_by.ends_with("never idle on purpose, eq. 35"));
    }
    EXPECT_TRUE(scenario.chains.front().latency);
    EXPECT_GE(*scenario.sensitivity->all, 1);
    EXPECT_FALSE(contains(scenario.remarks, "its schedules were not explored"));
    EXPECT_LE(*callback(scenario, "lidar").response, 20ms) << policy;
    EXPECT_EQ(scenario.chains.front().latency, without.scenarios.front().chains.front().latency);
  }
}

}  // namespace
}  // namespace takt::analysis
