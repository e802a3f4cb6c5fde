// SPDX-License-Identifier: Apache-2.0
//
// Timers whose offsets are unknown: what is proved and played of them.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "analysis/documents.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/application/parse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

// `jobs`: the rest of each, after its name.
application::Application parsed(const std::string& policy, std::initializer_list<std::string> jobs,
                                const std::string& cpus = "[0]") {
  std::string callbacks;
  for (const std::string& job : jobs) {
    callbacks += (callbacks.empty() ? "" : ", ") + std::string{R"({"name": "c)"} +
                 std::to_string(callbacks.size()) + R"(", )" + job + "}";
  }
  return application::parse(R"({"version": 1, "name": "offsets", "policy": ")" + policy +
                            R"(", "cpus": )" + cpus + R"(, "topics": [{"name": "t"}], )" +
                            R"("callbacks": [)" + callbacks + "]}");
}

// The second timer only keeps its deadline between two jobs of the first one.
const std::string first = R"("period": 10, "execution": {"worst": 6})";
const std::string second = R"("period": 20, "deadline": 5, "execution": {"worst": 4}, )";

TEST(unknown_offsets, are_not_in_schedule_graphs) {
  for (const char* policy : {"np-edf", "cw-edf"}) {
    const Report known = analyse(parsed(policy, {first, second + R"("offset": 6)"}));
    EXPECT_EQ(known.scenarios.front().deadlines, Verdict::meets) << policy;
    const Report unknown = analyse(parsed(policy, {first, second + R"("offset": "unknown")"}));
    EXPECT_NE(unknown.scenarios.front().deadlines, Verdict::meets) << policy;
    EXPECT_TRUE(contains(unknown.scenarios.front().remarks, "offset of 'c")) << policy;
  }
}

TEST(unknown_offsets, do_not_matter_for_a_single_timer) {
  const Report report = analyse(
      parsed("cw-edf", {R"("period": 10, "offset": "unknown", "execution": {"worst": 6})"}));
  EXPECT_EQ(report.scenarios.front().deadlines, Verdict::meets);
}

TEST(unknown_offsets, belong_to_timers) {
  EXPECT_THROW(parsed("edf", {R"("kind": "message", "trigger": "t", "offset": "unknown", )"
                              R"("execution": {"worst": 6})"}),
               application::ParseError);
  EXPECT_THROW(parsed("edf", {R"("period": 10, "offset": "any", "execution": {"worst": 6})"}),
               application::ParseError);
}

// The other one preempts it if, and only if, it is released meanwhile.
TEST(unknown_offsets, are_drawn_up_to_the_period) {
  const application::Application app = parsed(
      "fp", {R"("period": 100, "priority": 9, "offset": "unknown", "execution": {"worst": 1})",
             R"("period": 100, "priority": 1, "execution": {"worst": 50})"});
  const auto response = [&](std::uint64_t seed, sim::ExecutionTimes execution) {
    return sim::simulate(app, {.duration = nanoseconds{400}, .seed = seed, .execution = execution})
        .callbacks.back()
        .response.max;
  };
  std::multiset<nanoseconds> responses;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_EQ(response(seed, sim::ExecutionTimes::worst), nanoseconds{51});
    responses.insert(response(seed, sim::ExecutionTimes::drawn));
  }
  EXPECT_EQ(responses.count(nanoseconds{50}) + responses.count(nanoseconds{51}), 200U);
  EXPECT_GT(responses.count(nanoseconds{50}), 60U);
  EXPECT_GT(responses.count(nanoseconds{51}), 60U);
}

// It may be less than the period of all scenarios, or be another one.
TEST(unknown_offsets, of_a_reader_whose_timer_a_scenario_changes_delay_its_first_job) {
  for (sched::TaskChange change : {sched::TaskChange{.task = "", .period = nanoseconds{200}},
                                   sched::TaskChange{.task = "", .offset = nanoseconds{900}}}) {
    application::Application app = parsed(
        "fp", {R"("period": 700, "priority": 9, "execution": {"worst": 10}, "writes": ["t"])",
               R"("period": 500, "priority": 8, "offset": "unknown", "execution": )"
               R"({"worst": 10}, "reads": [{"topic": "t"}])"});
    const std::string& reader = app.callbacks.back().task.name;
    app.chains = {{.name = "chain", .callbacks = {app.callbacks.front().task.name, reader}}};
    change.task = reader;
    app.strategy.emplace().add_scenario(sched::SchedulingScenario{"changed"}.add_task(change));
    const std::optional<nanoseconds> bound = analyse(app).scenarios.front().chains.front().latency;
    ASSERT_TRUE(bound);
    nanoseconds longest{0};
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const sim::Result run = sim::simulate(
          app,
          {.duration = nanoseconds{10'000}, .seed = seed, .execution = sim::ExecutionTimes::drawn});
      longest = std::max(longest, run.chains.front().latency.max);
    }
    EXPECT_LE(longest, *bound);
    EXPECT_GT(longest, nanoseconds{210});  // more than one period of the scenario
  }
}

// The second writer begins late: until then only the first one releases the reader.
TEST(unknown_offsets, known_ones_of_one_of_two_writers_keep_new_data_away) {
  application::Application app = parsed(
      "fp", {R"("period": 100, "priority": 7, "execution": {"worst": 1}, "writes": ["t"])",
             R"("period": 30, "offset": 200, "priority": 9, "execution": {"worst": 1}, )"
             R"("writes": ["t"])",
             R"("kind": "message", "trigger": "t", "priority": 8, "execution": {"worst": 1}, )"
             R"("writes": ["u"])",
             R"("kind": "message", "trigger": "u", "priority": 8, "execution": {"worst": 1})"});
  app.topics = {{.name = "t", .depth = 8}, {.name = "u", .depth = 8}};
  for (application::Callback& callback : app.callbacks) {
    callback.task.parameters.overrun = sched::Overrun::catch_up;
  }
  app.chains = {
      {.name = "chain", .callbacks = {app.callbacks[2].task.name, app.callbacks[3].task.name}}};
  const Report report = analyse(app);
  const std::optional<nanoseconds> bound = report.scenarios.front().chains.front().reaction;
  ASSERT_TRUE(bound);
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{1000}});
  EXPECT_GT(run.chains.front().reaction.max, nanoseconds{99});
  EXPECT_LE(run.chains.front().reaction.max, *bound);
}

// Lanes of one callback are released in turn, and each once in two periods.
TEST(unknown_offsets, keep_the_distance_of_lanes) {
  const application::Application app = parsed(
      "fp",
      {R"("period": 100, "priority": 9, "at_once": 2, "offset": "unknown", "execution": {"worst": 9})"},
      "[0, 1]");
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const sim::Result run = sim::simulate(
        app,
        {.duration = nanoseconds{1000}, .seed = seed, .execution = sim::ExecutionTimes::drawn});
    ASSERT_EQ(run.callbacks.size(), 2U);
    EXPECT_LE(run.callbacks[1].releases, run.callbacks[0].releases);
    EXPECT_GE(run.callbacks[1].releases + 1, run.callbacks[0].releases);
  }
}

}  // namespace
}  // namespace takt::analysis
