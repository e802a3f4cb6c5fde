// SPDX-License-Identifier: Apache-2.0
// Jobs that publish several messages release several jobs at once.
#include <gtest/gtest.h>

#include "analysis/documents.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

std::string burst(const std::string& messages, int depth) {
  const std::string count = "'messages': {'x': " + messages + "}";
  return app(timer("plan", 50'000, 1'100, 40, ", 'writes': ['x'], " + count) + "," +
                 message("sub", "x", 2'100, 30, ", 'deadline': 20000"),
             ", 'topics': [{'name': 'x', 'depth': " + std::to_string(depth) + "}]");
}

std::string burst(int messages, int depth) {
  return burst(std::to_string(messages), depth);
}

// Eight jobs of 2.1; the writer has ended.
TEST(bursts, each_message_of_a_job_releases_a_job) {
  const ScenarioReport scenario = analyse_json(burst(8, 8)).scenarios.front();
  EXPECT_EQ(callback(scenario, "sub").response, 16'800ns);
  EXPECT_EQ(callback(scenario, "sub").verdict, Verdict::meets);
  EXPECT_TRUE(scenario.remarks.empty());
  EXPECT_EQ(callback(analyse_json(burst(1, 1)).scenarios.front(), "sub").response, 2'100ns);
}

TEST(bursts, the_simulator_publishes_as_many_messages) {
  const sim::Result result = sim::simulate(parsed(burst(8, 8)), {.duration = 100'000ns});
  EXPECT_EQ(result.callbacks.back().jobs, 16U);
  EXPECT_EQ(result.callbacks.back().response.max, 16'800ns);
}

TEST(bursts, of_a_range_count_as_the_most) {
  EXPECT_EQ(callback(analyse_json(burst("[1, 8]", 8)).scenarios.front(), "sub").response, 16'800ns);
  EXPECT_TRUE(contains(analyse_json(burst("[1, 8]", 7)).scenarios.front().remarks,
                       "'sub' may lose messages of 'x'"));
  const sim::Result worst = sim::simulate(parsed(burst("[1, 8]", 8)), {.duration = 100'000ns});
  EXPECT_EQ(worst.callbacks.back().jobs, 16U);
}

TEST(bursts, of_a_range_are_drawn_between_its_ends) {
  std::vector<std::uint64_t> runs;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    runs.push_back(
        sim::simulate(parsed(burst("[2, 4]", 8)),
                      {.duration = 50'000ns, .seed = seed, .execution = sim::ExecutionTimes::drawn})
            .callbacks.back()
            .jobs);
  }
  std::ranges::sort(runs);
  EXPECT_EQ(runs.front(), 2U);
  EXPECT_EQ(runs.back(), 4U);
  EXPECT_EQ(runs[100], 3U);
}

TEST(bursts, of_a_range_cost_what_is_published) {
  std::string json = burst("[1, 8]", 8);
  json.insert(json.size() - 1, ", 'overheads': {'publish': 10}");
  EXPECT_EQ(callback(analyse_json(json).scenarios.front(), "plan").wcet, 1'180ns);
  const sim::Result drawn = sim::simulate(
      parsed(json), {.duration = 50'000'000ns, .execution = sim::ExecutionTimes::drawn});
  EXPECT_EQ(drawn.callbacks.front().response.min, 1'110ns);
  EXPECT_EQ(drawn.callbacks.front().response.max, 1'180ns);
}

TEST(bursts, a_topic_that_keeps_fewer_messages_loses_some) {
  EXPECT_TRUE(contains(analyse_json(burst(8, 7)).scenarios.front().remarks,
                       "'sub' may lose messages of 'x': up to 8 arrive within one response, and "
                       "the topic keeps 7. Give it a depth of 8"));
}

// As everywhere, a latency is that of the first use of data, and an age that of any.
TEST(bursts, a_chain_ends_with_the_first_of_them_and_is_as_old_as_the_last) {
  std::string json = burst(8, 8);
  json.insert(json.size() - 1, ", 'chains': [{'name': 'c', 'callbacks': ['plan', 'sub']}]");
  const ScenarioReport scenario = analyse_json(json).scenarios.front();
  EXPECT_EQ(scenario.chains.front().latency, 1'100ns + 2'100ns);
  EXPECT_EQ(scenario.chains.front().age, 1'100ns + 8 * 2'100ns);
}

// The messages of one job come at once, whatever least distance is declared.
TEST(bursts, that_release_their_own_writers_have_no_bound) {
  const auto circle = [](int messages) {
    const std::string count = ", 'messages': {'x': " + std::to_string(messages) + "}";
    return analyse_json(app(timer("a", 100, 1, 9, ", 'writes': ['x']") + "," +
                            message("b", "x", 1, 8, ", 'period': 100, 'writes': ['x']" + count)));
  };
  EXPECT_TRUE(callback(circle(1).scenarios.front(), "b").response);
  const ScenarioReport several = circle(2).scenarios.front();
  EXPECT_FALSE(callback(several, "b").response);
  EXPECT_TRUE(contains(several.remarks,
                       "'b' is released by its own messages, several at once: "
                       "nothing bounds their number"));
}

TEST(bursts, in_thousands_have_no_bound_whatever_period_is_declared) {
  const ScenarioReport scenario =
      analyse_json(app(timer("a", 100'000, 1, 9, ", 'writes': ['x'], 'messages': {'x': 40}") + "," +
                       message("b", "x", 1, 8, ", 'writes': ['y'], 'messages': {'y': 40}") + "," +
                       message("c", "y", 1, 7, ", 'period': 100000")))
          .scenarios.front();
  EXPECT_FALSE(callback(scenario, "c").response);
  EXPECT_TRUE(contains(scenario.remarks, "'c' is released in too many ways"));
}

TEST(bursts, publishing_costs_as_often) {
  const auto with = [](int messages) {
    std::string json = burst(messages, 8);
    json.insert(json.size() - 1, ", 'overheads': {'publish': 10}");
    return callback(analyse_json(json).scenarios.front(), "plan").wcet;
  };
  EXPECT_EQ(with(1), 1'110ns);
  EXPECT_EQ(with(8), 1'180ns);
}

TEST(bursts, what_is_no_number_of_messages_is_refused) {
  EXPECT_THROW(parsed(burst(0, 1)), application::ParseError);
  EXPECT_THROW(parsed(burst(1'001, 1)), application::ParseError);
  for (const std::string range : {"[8, 1]", "[0, 8]", "[1, 1001]", "[1]", "[1, 2, 3]", "'8'"}) {
    EXPECT_THROW(parsed(burst(range, 1)), application::ParseError) << range;
  }
  EXPECT_THROW(parsed(app(timer("a", 10, 1, 1, ", 'messages': {'y': 2}"))),
               application::ParseError);
}

}  // namespace
}  // namespace takt::analysis
