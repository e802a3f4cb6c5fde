// SPDX-License-Identifier: Apache-2.0
//
// Callbacks that are released by messages, where the schedules of their core are explored: against
// every run.
#include <gtest/gtest.h>

#include "analysis/documents.hpp"
#include "analysis/exhaustive_draw.hpp"

namespace takt::analysis {
namespace {

// Timers, and callbacks that follow each other; every one has a priority of its own.
ExhaustiveSet followed(std::uint64_t seed, const std::string& policy) {
  ExhaustiveSets random{seed};
  ExhaustiveSet set{.policy = policy, .rule = rule_of(policy), .tasks = {}};
  const bool late = random.chance(0.2);
  for (const OracleTask& task : random.tasks({.most_tasks = 4, .most_utilization = 0.7})) {
    const std::size_t index = set.tasks.size();
    set.tasks.push_back({.task = task});
    ExhaustiveTask& entry = set.tasks.back();
    entry.task.best = random.chance(0.6) ? random.number(1, task.execution) : task.execution;
    if (index > 0 && random.chance(0.5)) {
      entry.trigger.writers = {
          static_cast<std::size_t>(random.number(0, static_cast<std::int64_t>(index) - 1))};
      entry.task.execution = std::min<std::int64_t>(entry.task.execution, 2);
      entry.task.best = std::min<std::int64_t>(entry.task.best, 2);
      entry.task.deadline = random.number(3, 20);
    } else {
      entry.task.offset = random.chance(0.5) ? random.number(0, task.period) : 0;
      entry.task.lag = late ? random.number(0, 2) : 0;
    }
  }
  return set;
}

struct MessageTally {
  int explored = 0;
  int bounds = 0;
  int reached = 0;
  int missed = 0;
  int refused = 0;  // though no deadline is missed
};

void expect_bounded(const ExhaustiveSet& set, MessageTally& tally) {
  const Reached reached = reach_all({.rule = set.rule, .until_missed = true}, set.tasks);
  const Report report = analyse(application_of(set), {.sensitivity = false, .proposals = false});
  const ScenarioReport& scenario = report.scenarios.front();
  tally.missed += reached.missed ? 1 : 0;
  if (reached.missed) {
    EXPECT_NE(scenario.deadlines, Verdict::meets);
    return;
  }
  if (!reached.complete || !scenario.cores.front().bound_by.starts_with("schedule graph")) {
    return;
  }
  if (scenario.deadlines != Verdict::meets) {
    ++tally.refused;
    return;
  }
  ++tally.explored;
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    const nanoseconds longest{reached.responses[i]};
    EXPECT_GE(*scenario.callbacks[i].response, longest) << i;
    EXPECT_FALSE(scenario.callbacks[i].exact);
    ++tally.bounds;
    tally.reached += scenario.callbacks[i].response == longest ? 1 : 0;
  }
}

MessageTally look_at(const std::string& policy) {
  MessageTally tally;
  for (int i = 0; i < rounds(1500) && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const ExhaustiveSet set = followed(seed, policy);
    const bool messages = std::ranges::any_of(
        set.tasks, [](const ExhaustiveTask& entry) { return !entry.trigger.writers.empty(); });
    if (messages) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(set));
      expect_bounded(set, tally);
    }
  }
  EXPECT_GT(tally.explored, rounds(50));
  EXPECT_GT(tally.missed, rounds(30));
  std::cout << tally.explored << " explored, " << tally.refused << " refused, " << tally.missed
            << " missed, " << tally.reached << " of " << tally.bounds << " bounds reached\n";
  return tally;
}

TEST(explored_messages, bounds_hold_in_every_run_and_are_reached) {
  const MessageTally tally = look_at("np-fp");
  EXPECT_LT(tally.refused, tally.explored / 20);
  EXPECT_GT(tally.reached, tally.bounds * 9 / 10);
}

// When a message came, and is due, is not known to the moment.
TEST(explored_messages, under_deadlines_bounds_hold_in_every_run_and_are_mostly_reached) {
  const MessageTally tally = look_at("np-edf");
  EXPECT_LT(tally.refused, tally.explored / 5);
  EXPECT_GT(tally.reached, tally.bounds * 3 / 4);
}

// `m` waits for `b` and then for `a`, which is released meanwhile; the closed test counts `b` and
// `a` for `m` as if both could be in the way of each of its releases, and `m` as if it came any
// time.
TEST(explored_messages, a_callback_that_follows_a_timer_is_proved_by_its_schedules) {
  const std::string callbacks = timer("a", 10, 3, 3, ", 'writes': ['x'], 'deadline': 5") + "," +
                                timer("b", 20, 4, 1, ", 'offset': 5") + "," +
                                message("m", "x", 1, 2, ", 'deadline': 3");
  const Report report = analyse_json(app(callbacks, ", 'policy': 'np-fp'"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(report.verdict, Verdict::meets);
  EXPECT_EQ(callback(scenario, "a").response, nanoseconds{3});
  EXPECT_EQ(callback(scenario, "m").response, nanoseconds{1});
  EXPECT_EQ(callback(scenario, "m").bound_by, "schedule graph (Nasri & Brandenburg 2017), eq. 8");
}

// `a` and `m` are always done before `b`, which the closed test does not know, comes again.
TEST(explored_messages, under_deadlines_they_are_explored_too_with_sensitivity) {
  const std::string callbacks = timer("a", 10, 3, 3, ", 'writes': ['x'], 'deadline': 5") + "," +
                                timer("b", 20, 4, 1, ", 'offset': 5") + "," +
                                message("m", "x", 1, 2, ", 'deadline': 3");
  const Report report = analyse_json(app(callbacks, ", 'policy': 'np-edf'"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(report.verdict, Verdict::meets);
  EXPECT_EQ(callback(scenario, "m").response, nanoseconds{1});
  EXPECT_EQ(callback(scenario, "m").bound_by, "schedule graph (Nasri & Brandenburg 2017), eq. 8");
  EXPECT_GT(scenario.sensitivity->all, 1);
}

TEST(explored_messages, none_are_explored_where_a_reader_of_the_node_takes_them_first) {
  const auto analysed = [](const std::string& node) {
    return analyse_json(app(timer("a", 10, 3, 3, ", 'writes': ['x'], 'deadline': 5") + "," +
                                timer("b", 20, 3, 1, ", 'node': 'n', 'reads': [{'topic': 'x'}]") +
                                "," +
                                message("m", "x", 1, 2, ", 'deadline': 3, 'node': '" + node + "'"),
                            ", 'policy': 'np-fp'"));
  };
  EXPECT_FALSE(contains(analysed("o").scenarios.front().remarks, "'m' is released by messages"));
  EXPECT_TRUE(contains(analysed("n").scenarios.front().remarks, "'m' is released by messages"));
}

TEST(explored_messages, none_are_explored_where_more_wait_than_a_topic_keeps) {
  const std::string callbacks = timer("a", 4, 1, 3, ", 'writes': ['x'], 'deadline': 3") + "," +
                                timer("b", 16, 4, 2, ", 'deadline': 12") + "," +
                                message("m", "x", 1, 1, ", 'deadline': 16");
  const auto analysed = [&](int depth) {
    return analyse_json(app(callbacks, ", 'policy': 'np-fp', 'topics': [{'name': 'x', 'depth': " +
                                           std::to_string(depth) + "}]"));
  };
  EXPECT_EQ(analysed(4).verdict, Verdict::meets);
  EXPECT_NE(analysed(1).verdict, Verdict::meets);
  EXPECT_TRUE(contains(analysed(1).scenarios.front().remarks,
                       "more messages may wait than their topics keep"));
}

}  // namespace
}  // namespace takt::analysis
