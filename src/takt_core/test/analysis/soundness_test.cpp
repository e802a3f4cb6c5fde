// SPDX-License-Identifier: Apache-2.0
//
// What a bound covers and what it does not: models outside of it are not proved, with the reason.
// Each of these was once said to be guaranteed, and a run showed otherwise.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "documents.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

std::string reads(const std::string& topic, const std::string& more = "") {
  return ", 'reads': [{'topic': '" + topic + "'" + more + "}]";
}

std::string writes(const std::string& topic) {
  return ", 'writes': ['" + topic + "']";
}

ChainReport chain_of(const std::string& callbacks, const std::string& names,
                     const std::string& topics = "") {
  return analyse_json(app(callbacks, ", 'topics': [" + topics + "], 'chains': [{'name': 'path', " +
                                         "'callbacks': [" + names + "], 'max_latency': 1000}]"))
      .scenarios.front()
      .chains.front();
}

TEST(soundness, another_writer_overwrites_what_the_reader_has_not_read) {
  const std::string tasks = timer("a", 10, 1, 90, writes("x")) + "," +
                            timer("b", 20, 1, 80, writes("x")) + "," +
                            timer("r", 50, 1, 70, reads("x"));
  const ChainReport lost = chain_of(tasks, "'a', 'r'");
  EXPECT_FALSE(lost.latency || lost.age || lost.reaction);
  EXPECT_EQ(lost.verdict, Verdict::not_proved);
  EXPECT_NE(lost.bound_by.find("other writers of topic 'x'"), std::string::npos);
  // Since a's newest message, at most 11 before, b has published once at most.
  const ChainReport kept = chain_of(tasks, "'a', 'r'", "{'name': 'x', 'depth': 2}");
  EXPECT_EQ(kept.latency, 50ns + 3ns);
  EXPECT_EQ(kept.verdict, Verdict::meets);
  const std::string outside = "{'name': 'x', 'external': true, 'external_period': 100, 'depth': ";
  const std::string one =
      timer("a", 10, 1, 90, writes("x")) + "," + timer("r", 50, 1, 70, reads("x"));
  EXPECT_FALSE(chain_of(one, "'a', 'r'", outside + "1}").latency);
  EXPECT_TRUE(chain_of(one, "'a', 'r'", outside + "2}").latency);
}

TEST(soundness, a_message_that_is_overwritten_before_its_job_starts_does_not_arrive) {
  const std::string tasks = timer("a", 10, 1, 90, writes("x")) + "," +
                            timer("b", 10, 1, 80, writes("x")) + "," + message("m", "x", 1, 10);
  EXPECT_FALSE(chain_of(tasks, "'a', 'm'").latency);
  EXPECT_TRUE(chain_of(tasks, "'a', 'm'", "{'name': 'x', 'depth': 2}").latency);
}

// Its jobs for messages of b end with data of a that is as old as a's period.
TEST(soundness, who_is_released_by_others_too_ends_on_old_data) {
  const auto chain = [](const std::string& more) {
    return chain_of(timer("a", 50, 1, 90, writes("x")) + "," + timer("b", 30, 1, 80, more) + "," +
                        message("m", "x", 1, 10),
                    "'a', 'm'", "{'name': 'x', 'depth': 2}");
  };
  EXPECT_EQ(chain("").age, 3ns);
  EXPECT_EQ(chain(writes("x")).age, 50ns + 1ns + 3ns);
}

// The ends of a come as close as 3 to each other, and f takes 5; c is released by f.
TEST(soundness, who_drops_a_release_upstream_widens_the_gap) {
  const auto tasks = [](const std::string& more) {
    return "{'name': 'a', 'period': 10, 'priority': 90, 'cpu': 0, 'writes': ['x'], "
           "'execution': {'best': 1, 'worst': 8}}," +
           message("f", "x", 5, 80, ", 'cpu': 1" + more + writes("y")) + "," +
           timer("w", 47, 1, 70, ", 'cpu': 2" + writes("z")) + "," +
           message("c", "y", 1, 60, ", 'cpu': 2" + reads("z"));
  };
  const std::string cores = "'w', 'c'], 'max_latency': 100}], 'cpus': [0, 1, 2], 'topics': [";
  const auto latency = [&](const std::string& more, const std::string& topics) {
    return analyse_json(app(tasks(more),
                            ", 'chains': [{'name': 'path', 'callbacks': [" + cores + topics + "]"))
        .scenarios.front()
        .chains.front()
        .latency;
  };
  EXPECT_FALSE(latency(", 'overrun': 'skip'", ""));
  EXPECT_FALSE(latency("", ""));  // what it catches up on has been overwritten
  EXPECT_TRUE(latency("", "{'name': 'x', 'depth': 2}, {'name': 'y', 'depth': 2}"));
}

TEST(soundness, the_first_release_of_a_reader_may_be_far_away) {
  const auto latency = [](int offset) {
    return chain_of(timer("w", 5, 1, 80, writes("x")) + "," +
                        timer("r", 2, 1, 20, reads("x") + ", 'offset': " + std::to_string(offset)),
                    "'w', 'r'")
        .latency;
  };
  EXPECT_EQ(latency(2), 2ns + 2ns);
  EXPECT_EQ(latency(5), 5ns + 2ns);
  // Also of the timer whose messages release it.
  const std::string tasks = timer("t", 3, 1, 90, ", 'offset': 10" + writes("x")) + "," +
                            message("m", "x", 1, 80, reads("y")) + "," +
                            timer("w", 20, 1, 10, writes("y"));
  EXPECT_EQ(chain_of(tasks, "'w', 'm'").latency, 3ns + (10ns + 1ns) + 1ns);
}

TEST(soundness, a_reader_that_is_released_early_itself_has_not_asked_for_its_data) {
  const std::string circle =
      timer("a", 1000, 100, 12, reads("y", ", 'max_age': 1000") + writes("x")) + "," +
      timer("b", 1000, 100, 53, reads("x", ", 'max_age': 1000") + writes("y"));
  const Report report = analyse_json(app(circle, ", 'policy': 'rm'"));
  for (const AgeReport& age : report.scenarios.front().ages) {
    EXPECT_EQ(age.verdict, Verdict::not_proved);
    EXPECT_NE(age.bound_by, "early releases of the source, eq. 12");
  }
  EXPECT_TRUE(contains(report.scenarios.front().remarks, "nobody knows how often"));
}

TEST(soundness, circles_of_messages_are_counted_once_and_reach_others) {
  const Report report =
      analyse_json(app(timer("t", 100, 1, 9, writes("x")) + "," +
                       message("m", "x", 1, 8, ", 'period': 10, 'writes': ['x']") + "," +
                       message("n", "x", 1, 7, ", 'period': 10, 'writes': ['x']") + "," +
                       message("r", "x", 1, 6, ", 'deadline': 100")));
  const ScenarioReport& scenario = report.scenarios.front();
  const std::set<std::string> different{scenario.remarks.begin(), scenario.remarks.end()};
  EXPECT_EQ(different.size(), scenario.remarks.size());
  EXPECT_EQ(different.size(), 2U + 3U);  // two circles, and three that may lose messages of x
  // Its messages come from t, m and n, each 10 apart at least.
  EXPECT_GT(*callback(scenario, "r").response, 4ns);
}

// The reader's requests come when its jobs end, however late that is.
TEST(soundness, a_late_reader_asks_for_several_early_releases_at_once) {
  const auto source = [](const std::string& more) {
    return callback(analyse_json(
                        app(timer("s", 3000, 100, 98, writes("x")) + "," +
                                timer("r", 1000, 100, 97, reads("x", ", 'max_age': 1000") + more),
                            ", 'policy': 'fp'"))
                        .scenarios.front(),
                    "s")
        .response;
  };
  EXPECT_EQ(source(""), 500ns + 200ns);  // asked for at the start, 500 before; behind a regular one
  EXPECT_GT(*source(", 'jitter': 2000, 'overrun': 'catch_up'"), 1000ns);
}

// At the start the source is released 5 ms before, and from there every 4 ms: again 1 ms before.
// Both jobs are there at 0, a third one comes at 3 ms; the bound was 3886 us, with two.
TEST(soundness, an_early_release_before_the_start_brings_the_next_ones_with_it) {
  const application::Application application =
      parsed(app(timer("s", 4000, 343, 97, writes("x") + ", 'overrun': 'catch_up'") + "," +
                     timer("r", 10'000, 3200, 96, reads("x", ", 'max_age': 6400")),
                 ", 'policy': 'fp'"));
  const auto response = callback(analyse(application).scenarios.front(), "r").response;
  const sim::Result run = sim::simulate(application, {.duration = 60'000ns});
  ASSERT_TRUE(response);
  EXPECT_EQ(run.callbacks.at(1).response.max, 4229ns);
  EXPECT_EQ(*response, 4229ns);
}

TEST(soundness, a_callback_that_computes_for_longer_than_its_deadline_misses_it) {
  for (const auto* const policy : {"fp", "edf", "np-fp", "np-edf", "p-rm", "cw-edf"}) {
    const Report report = analyse_json(app(timer("a", 10, 55, 40) + "," + timer("b", 1000, 1, 50),
                                           std::string{", 'policy': '"} + policy + "'"));
    EXPECT_EQ(report.verdict, Verdict::misses) << policy;
    EXPECT_EQ(callback(report.scenarios.front(), "a").verdict, Verdict::misses) << policy;
  }
}

// The source is released for the slow reader before its time, as counted from then, and asked for
// when the reader's job before has ended: up to that much later. In a run it took 6585.
TEST(soundness, a_chain_counts_how_late_an_early_release_is_asked_for) {
  const ChainReport chain = chain_of(
      timer("s", 9000, 200, 90, writes("x") + ", 'offset': 8190, 'deadline': 7000") + "," +
          timer("r", 1600, 300, 29, reads("x", ", 'max_age': 12700") + ", 'offset': 1410") + "," +
          timer("slow", 9800, 200, 17, reads("x", ", 'max_age': 13800") + ", 'offset': 25"),
      "'s', 'r'");
  ASSERT_TRUE(chain.latency);
  EXPECT_GE(*chain.latency, 6585ns);
  EXPECT_EQ(chain.verdict, Verdict::not_proved);
}

TEST(soundness, a_bound_is_not_exact_where_its_job_is_dropped) {
  const auto low = [](const std::string& overrun) {
    return callback(analyse_json(app(timer("low", 40, 21, 1, ", 'overrun': '" + overrun + "'") +
                                     "," + timer("high", 50, 20, 2)))
                        .scenarios.front(),
                    "low");
  };
  EXPECT_EQ(low("skip").response, 43ns);  // of the second job; the first one ends at 41
  EXPECT_FALSE(low("skip").exact);
  EXPECT_EQ(low("skip").verdict, Verdict::misses);
  EXPECT_TRUE(low("catch_up").exact);
}

TEST(soundness, what_may_be_delivered_inside_need_not_be) {
  const std::string tasks = message("m", "x", 10, 10, ", 'node': 'n', 'period': 10") + "," +
                            timer("r", 50, 10, 50, ", 'node': 'n'" + reads("x"));
  const Report report = analyse_json(
      app(tasks, ", 'topics': [{'name': 'x', 'external': true, 'external_period': 0}]"));
  EXPECT_GT(callback(report.scenarios.front(), "r").response, 10ns);
  EXPECT_FALSE(callback(report.scenarios.front(), "r").exact);
}

TEST(soundness, messages_of_all_scenarios_are_paid_for_in_each) {
  const std::string more =
      ", 'overheads': {'deliver': 3, 'publish': 2}, 'scenarios': [{'name': 'calm'}, {'name': "
      "'busy', 'tasks': [{'task': 'r', 'reads': [{'topic': 'x'}], 'writes': ['y']}]}]";
  const Report report =
      analyse_json(app(timer("w", 100, 10, 2, writes("x")) + "," + timer("r", 200, 10, 1), more));
  for (const ScenarioReport& scenario : report.scenarios) {
    EXPECT_EQ(callback(scenario, "r").wcet, 10ns + 3ns + 2ns) << scenario.name;
  }
}

TEST(soundness, who_waits_takes_the_core_once_more_for_each_wait) {
  const Report report = analyse_json(app(
      timer("a", 100, 10, 2, ", 'suspension': 5, 'suspensions': 3") + "," + timer("b", 200, 20, 1),
      ", 'overheads': {'preemption': 3}"));
  EXPECT_EQ(callback(report.scenarios.front(), "a").wcet, 10ns + 4 * 3ns);
  EXPECT_EQ(callback(report.scenarios.front(), "b").wcet, 20ns + 3ns);
}

}  // namespace
}  // namespace takt::analysis
