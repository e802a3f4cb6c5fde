// SPDX-License-Identifier: Apache-2.0
//
// Tiny robots in the simulator against their bounds, with a process whose policy leaves the core
// idle on purpose above or below another one (docs/reference/analysis.md, eq. 35): many offsets
// of the timers of each, with the worst and with drawn execution times.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <string>

#include "analysis/documents.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

std::string quoted(const std::string& key, const std::string& text) {
  return ", '" + key + "': '" + text + "'";
}

std::string with(const std::string& key, std::int64_t number) {
  return ", '" + key + "': " + std::to_string(number);
}

// Two timers of a process that may idle, one of another process, and a message between them.
class TinyRobot {
 public:
  TinyRobot(RandomTasks& random, const std::string& policy) : random_(random) {
    constexpr std::array<const char*, 6> others = {
        "'policy': 'fp'",     "'policy': 'edf'",  "'policy': 'np-fp'",
        "'policy': 'cw-edf'", "'policy': 'p-rm'", "'executor': 'rclcpp_events'"};
    const bool above = random.chance(0.6);
    processes_ = ", 'processes': [{'name': 'idles', 'cpu': 0, 'policy': '" + policy + "'" +
                 with("priority", above ? 80 : 40) + "}, {'name': 'other', " +
                 others.at(static_cast<std::size_t>(random.number(0, others.size() - 1))) +
                 with("cpu", random.chance(0.2) ? 1 : 0) + with("priority", above ? 40 : 80) +
                 "}], 'handover': {'least': 0, 'most': " + std::to_string(random.number(0, 2)) +
                 "}";
    fast_ = random.number(4, 6);
    slow_ = fast_ * random.number(2, 3) + random.number(0, 2);
    other_ = random.number(8, 16);
    worst_ = {random.number(1, 2), random.number(1, fast_ - 1), random.number(1, 2)};
    const std::int64_t way = random.number(0, 3);
    from_idles_ = way >= 2;
    from_other_ = way == 1;
  }

  // As a document, with offsets of its own.
  std::string draw() {
    std::string text = timer("fast", fast_, 0, "idles") + ", " +
                       timer("slow", slow_, 1, "idles", from_idles_) + ", " +
                       timer("calm", other_, 2, "other", from_other_);
    std::string chains;
    if (from_idles_ || from_other_) {
      const std::int64_t period = std::max(slow_, other_);
      text += ", " + message("hears", "said", 1, 1,
                             quoted("process", from_idles_ ? "other" : "idles") +
                                 with("period", period) + with("deadline", period));
      chains =
          ", 'topics': [{'name': 'said', 'depth': 8}], 'chains': [{'name': 'word', "
          "'callbacks': ['" +
          std::string{from_idles_ ? "slow" : "calm"} + "', 'hears']}]";
    }
    return app(text, chains + processes_);
  }

 private:
  std::string timer(const std::string& name, std::int64_t period, std::size_t number,
                    const std::string& process, bool says = false) {
    const std::int64_t worst = worst_.at(number);
    return "{" + quoted("name", name).substr(2) + with("period", period) +
           with("priority", static_cast<std::int64_t>(9 - number)) +
           with("offset", random_.number(0, period - 1)) + quoted("process", process) +
           (says ? ", 'writes': ['said']" : "") +
           ", 'execution': {'best': 1, 'worst': " + std::to_string(worst) + "}}";
  }

  RandomTasks& random_;
  std::string processes_;
  std::int64_t fast_ = 0;
  std::int64_t slow_ = 0;
  std::int64_t other_ = 0;
  std::array<std::int64_t, 3> worst_ = {};
  bool from_idles_ = false;
  bool from_other_ = false;
};

struct Tried {
  int closed = 0;  // processes that never idle, by their closed test
  int graphs = 0;  // that only a graph proves
  int bounds = 0;
  int reached = 0;
};

void compare_run(const ScenarioReport& bounds, const sim::Result& played, Tried& tried) {
  for (const sim::CallbackResult& one : played.callbacks) {
    if (const auto& bound = callback(bounds, one.name).response) {
      ++tried.bounds;
      tried.reached += one.response.max == *bound ? 1 : 0;
      EXPECT_LE(one.response.max, *bound) << one.name;
    }
  }
  for (std::size_t i = 0; i < played.chains.size(); ++i) {
    const ChainReport& bound = bounds.chains[i];
    const sim::ChainResult& one = played.chains[i];
    EXPECT_TRUE(!bound.latency || one.latency.max <= *bound.latency) << bound.name;
    EXPECT_TRUE(!bound.reaction || one.reaction.max <= *bound.reaction) << bound.name;
    EXPECT_TRUE(!bound.age || one.age.max <= *bound.age) << bound.name;
  }
}

void hold_against_runs(const application::Application& robot, std::uint64_t seed, Tried& tried) {
  const Report report = analyse(robot, {.sensitivity = false, .proposals = false});
  const ScenarioReport& bounds = report.scenarios.front();
  const CallbackReport& fast = callback(bounds, "fast");
  const bool closed = fast.bound_by.find("never idle") != std::string::npos;
  tried.closed += closed ? 1 : 0;
  tried.graphs += fast.response && !closed ? 1 : 0;
  for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
    compare_run(bounds,
                sim::simulate(robot, {.duration = nanoseconds{200},
                                      .seed = seed,
                                      .execution = execution,
                                      .percentiles = false}),
                tried);
  }
}

TEST(idling_robots, no_run_leads_above_a_bound) {
  for (const char* const policy : {"p-rm", "cw-edf"}) {
    Tried tried;
    for (int number = 0; number < rounds(120) && !HasFailure(); ++number) {
      const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(number);
      RandomTasks random{seed};
      TinyRobot robot{random, policy};
      for (int offsets = 0; offsets < 4 && !HasFailure(); ++offsets) {
        const std::string text = robot.draw();
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
        hold_against_runs(parsed(text), seed + static_cast<std::uint64_t>(offsets), tried);
      }
    }
    std::cout << policy << ": " << tried.closed << " processes never idle, " << tried.graphs
              << " proved by graphs, " << tried.reached << " of " << tried.bounds
              << " bounds reached\n";
    EXPECT_GT(tried.closed, rounds(20));
    EXPECT_GT(tried.graphs, rounds(100));
    EXPECT_GT(tried.reached, rounds(500));
  }
}

// Alone on its core a process has the bounds of an application; below another one that is kept from
// idling only by its closed test, it has them with interrupts.
TEST(idling_robots, a_process_is_analysed_as_an_application) {
  const std::string timers = timer("fast", 10, 3, 3, "%") + ", " + timer("slow", 33, 6, 2, "%");
  const auto in = [&](const std::string& process) {
    std::string text = timers;
    for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%')) {
      text.replace(at, 1, process.empty() ? "" : ", 'process': '" + process + "'");
    }
    return text;
  };
  const Report one_process = analyse_json(app(in(""), ", 'policy': 'cw-edf'"));
  const auto robot = [&](int cpu) {
    return analyse_json(app(in("plans") + ", " + timer("acts", 20, 1, 1, ", 'process': 'acts'"),
                            ", 'processes': [{'name': 'plans', 'cpu': 0, 'priority': 40, 'policy': "
                            "'cw-edf'}, {'name': 'acts', 'cpu': " +
                                std::to_string(cpu) + ", 'priority': 80}]"));
  };
  const Report other_core = robot(1);
  const Report same_core = robot(0);
  for (const char* const name : {"fast", "slow"}) {
    const CallbackReport& same = callback(one_process.scenarios.front(), name);
    const CallbackReport& apart = callback(other_core.scenarios.front(), name);
    EXPECT_EQ(apart.response, same.response) << name;
    EXPECT_EQ(apart.bound_by, same.bound_by) << name;
    EXPECT_EQ(apart.verdict, Verdict::meets) << name;
  }
  const CallbackReport& below = callback(same_core.scenarios.front(), "slow");
  EXPECT_EQ(below.verdict, Verdict::meets);
  EXPECT_NE(below.bound_by.find("never idle"), std::string::npos) << below.bound_by;
}

// It is that of the same order without idling, which is proved at 1 at least, or none.
TEST(idling_robots, the_sensitivity_is_that_without_idling) {
  const auto factor = [](const std::string& policy, int worst) {
    const Report report =
        analyse_json(app(timer("fast", 100, 20, 3, ", 'process': 'plans', 'deadline': 40") + ", " +
                             timer("slow", 300, worst, 2, ", 'process': 'plans', 'offset': 50"),
                         ", 'processes': [{'name': 'plans', 'cpu': 0, 'priority': 40, 'policy': '" +
                             policy + "'}, {'name': 'acts', 'cpu': 1, 'priority': 80}]"));
    EXPECT_EQ(report.verdict, policy == "np-edf" && worst > 60 ? Verdict::misses : Verdict::meets);
    return report.scenarios.front().sensitivity->all;
  };
  ASSERT_TRUE(factor("np-edf", 15));
  EXPECT_GT(*factor("np-edf", 15), 1.1);
  EXPECT_EQ(factor("cw-edf", 15), factor("np-edf", 15));
  EXPECT_EQ(factor("p-rm", 15), factor("np-fp", 15));
  EXPECT_FALSE(factor("cw-edf", 75)) << "it would be late without idling";
}

// What has no proof without idling, and messages of others, so no graph, has no bound, and nothing
// below it on its core has one.
TEST(idling_robots, what_may_idle_at_any_time_has_no_bound_and_leaves_none_below) {
  const Report report = analyse_json(app(
      timer("fast", 10, 5, 3, ", 'process': 'upper'") + ", " +
          timer("slow", 20, 8, 2, ", 'process': 'upper', 'writes': ['said']") + ", " +
          message("hears", "asked", 1, 1, ", 'process': 'upper', 'period': 60, 'deadline': 60") +
          ", " + timer("calm", 60, 1, 1, ", 'process': 'lower', 'writes': ['asked']"),
      ", 'topics': [{'name': 'said'}, {'name': 'asked'}], 'processes': [{'name': 'upper', "
      "'cpu': 0, 'priority': 80, 'policy': 'cw-edf'}, "
      "{'name': 'lower', 'cpu': 0, 'priority': 40}]"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_FALSE(callback(scenario, "slow").response);
  EXPECT_FALSE(callback(scenario, "calm").response);
  EXPECT_EQ(report.verdict, Verdict::not_proved);
}

}  // namespace
}  // namespace takt::analysis
