// SPDX-License-Identifier: Apache-2.0
//
// Callbacks whose jobs may run at once: what is simulated, and random applications of which no run
// is above its bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "../analysis/random_tasks.hpp"
#include "../policies.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/application/parse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

std::string timer(const std::string& name, std::int64_t period, std::int64_t worst,
                  const std::string& rest) {
  return R"({"name": ")" + name + R"(", "period": )" + std::to_string(period) +
         R"(, "execution": {"worst": )" + std::to_string(worst) + "}" + rest + "}";
}

std::string application(const std::string& policy, const std::string& cpus,
                        const std::string& callbacks, const std::string& rest = "") {
  return R"({"version": 1, "name": "x", "policy": ")" + policy + R"(", "cpus": )" + cpus +
         R"(, "callbacks": [)" + callbacks + "]" + rest + "}";
}

TEST(Lanes, run_a_timer_that_computes_longer_than_its_period) {
  const auto app = application::parse(application(
      "fp", "[1, 2]", timer("n.a", 10, 15, R"(, "priority": 3, "at_once": 2, "deadline": 15)")));
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{200}});
  ASSERT_EQ(run.callbacks.size(), 2U);
  EXPECT_EQ(run.callbacks[0].name, "n.a");
  EXPECT_EQ(run.callbacks[1].name, "n.a#2");
  for (const sim::CallbackResult& lane : run.callbacks) {
    EXPECT_EQ(lane.response.max, nanoseconds{15});
    EXPECT_EQ(lane.misses, 0U);
    EXPECT_EQ(lane.skipped, 0U);
  }
  EXPECT_EQ(run.callbacks[0].jobs + run.callbacks[1].jobs, 19U);
  EXPECT_EQ(analyse(app).scenarios.front().deadlines, Verdict::meets);
}

TEST(Lanes, run_messages_at_once_on_different_cores) {
  const std::string source = timer("n.source", 10, 1, R"(, "priority": 9, "writes": ["t"])");
  const std::string brake =
      R"({"name": "n.brake", "kind": "message", "trigger": "t", "priority": 5, "deadline": 17,)"
      R"( "overrun": "catch_up", "execution": {"worst": 15}, "at_once": 2})";
  const auto app = application::parse(application("fp", "[1, 2]", source + ", " + brake));
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{1000}});
  const auto lane = [&](const std::string& name) {
    return *std::ranges::find(run.callbacks, name, &sim::CallbackResult::name);
  };
  EXPECT_NEAR(static_cast<double>(lane("n.brake").jobs), 50, 1);
  EXPECT_NEAR(static_cast<double>(lane("n.brake#2").jobs), 50, 1);
  EXPECT_EQ(lane("n.brake").misses + lane("n.brake#2").misses, 0U);
  EXPECT_EQ(analyse(app).scenarios.front().deadlines, Verdict::meets);
}

std::string refused(const std::string& json) {
  try {
    static_cast<void>(application::parse(json));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Lanes, are_refused_where_jobs_cannot_run_at_once) {
  const auto app = [](const std::string& keys, const std::string& cpus = "[0, 1]",
                      const std::string& rest = "") {
    return application("fp", cpus, timer("n.a", 10, 1, R"(, "priority": 3, "at_once": 2)" + keys),
                       rest);
  };
  EXPECT_EQ(refused(app("")), "accepted");
  EXPECT_NE(refused(app(R"(, "group": "g")")).find("an exclusive group"), std::string::npos);
  EXPECT_NE(refused(app(R"(, "cpu": 1)")).find("it has one core"), std::string::npos);
  EXPECT_NE(refused(app("", "[0]")).find("cpus names fewer cores"), std::string::npos);
  EXPECT_NE(refused(app("", "[0, 1]", R"(, "chains": [{"name": "c", "callbacks": ["n.a"]}])"))
                .find("it is in chain 'c'"),
            std::string::npos);
  const std::string scenarios =
      R"(, "scenarios": [{"name": "s", "tasks": [{"task": "n.a", "period": 5}]}])";
  EXPECT_NE(refused(app("", "[0, 1]", scenarios)).find("when they are released"),
            std::string::npos);
  EXPECT_NE(refused(application("fp", "[0]", timer("n.a", 9, 1, R"(, "at_once": 0)")))
                .find("/callbacks/0/at_once"),
            std::string::npos);
}

TEST(Lanes, follow_a_change_of_their_callback) {
  const auto app = application::parse(
      application("fp", "[0, 1]", timer("n.a", 10, 1, R"(, "priority": 3, "at_once": 2)"),
                  R"(, "scenarios": [{"name": "s", "tasks": [{"task": "n.a", "priority": 7}]}])"));
  std::vector<std::string> changed;
  for (const sched::TaskChange& change : app.strategy->scenarios().front()->tasks()) {
    EXPECT_EQ(change.priority, 7);
    changed.push_back(change.task);
  }
  EXPECT_EQ(changed, (std::vector<std::string>{"n.a", "n.a#2"}));
}

// In few ticks, so that much happens at the same time.
class RandomLanes : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  application::Application make(const std::string& policy) {
    const std::int64_t cores = number(2, 3);
    losses_ = chance(0.3);
    std::string callbacks;
    for (std::int64_t i = number(2, 4); i > 0; --i) {
      add(callbacks, R"("period": )" + std::to_string(period()) + R"(, "offset": )" +
                         std::to_string(number(0, 40)));
    }
    for (std::int64_t i = number(2, 5); i > 0; --i) {
      const std::string topic =
          chance(0.2) ? "outside" : "t" + std::to_string(number(0, count_ - 1));
      add(callbacks, R"("kind": "message", "trigger": ")" + topic + R"(")" +
                         (losses_ && chance(0.5) ? "" : R"(, "overrun": "catch_up")"));
    }
    std::string topics = R"({"name": "outside", "external": true, "external_period": )" +
                         std::to_string(period()) + "}";
    for (std::int64_t i = 0; i < count_; ++i) {
      topics += R"(, {"name": "t)" + std::to_string(i) + R"(", "depth": 4})";
    }
    const std::string cpus = cores == 2 ? "[0, 1]" : "[0, 1, 2]";
    json = takt::analysis::application(policy, cpus, callbacks, R"(, "topics": [)" + topics + "]");
    return application::parse(json);
  }

  std::string json;

 private:
  std::int64_t period() {
    constexpr std::array<std::int64_t, 5> periods = {24, 40, 60, 80, 120};
    return periods[static_cast<std::size_t>(number(0, 4))];
  }

  // Some write a topic of another callback, too, which then has two writers.
  void add(std::string& callbacks, const std::string& released) {
    const std::int64_t worst = number(1, chance(0.3) ? 30 : 5);
    const std::string own = "t" + std::to_string(count_);
    const std::string other = count_ > 0 && chance(0.15)
                                  ? R"(, "t)" + std::to_string(number(0, count_ - 1)) + R"(")"
                                  : "";
    callbacks += std::string{count_ == 0 ? "" : ", "} + R"({"name": "c)" + std::to_string(count_) +
                 R"(.c", )" + released + R"(, "priority": )" + std::to_string(number(1, 12)) +
                 R"(, "deadline": )" + std::to_string(number(worst, 200)) +
                 R"(, "execution": {"best": )" + std::to_string(number(0, worst)) +
                 R"(, "worst": )" + std::to_string(worst) + "}" + R"(, "jitter": )" +
                 std::to_string(chance(0.1) ? number(1, 10) : 0) + R"(, "writes": [")" + own +
                 R"(")" + other + "]" + (chance(0.5) ? R"(, "at_once": 2})" : "}");
    ++count_;
  }

  std::int64_t count_ = 0;
  bool losses_ = false;
};

class EveryLaneSimulated : public testing::TestWithParam<std::string> {};

TEST_P(EveryLaneSimulated, is_within_its_bounds) {
  const int sets = rounds(300);
  int accepted = 0;
  int bounded = 0;  // responses of lanes
  double tightness = 0;
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    RandomLanes random{seed};
    const application::Application app = random.make(GetParam());
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + random.json);
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    accepted += report.deadlines == Verdict::meets ? 1 : 0;
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      const sim::Result run = sim::simulate(app, {.duration = nanoseconds{3000},
                                                  .seed = seed,
                                                  .execution = execution,
                                                  .percentiles = false});
      for (std::size_t at = 0; at < report.callbacks.size(); ++at) {
        const CallbackReport& bound = report.callbacks[at];
        const auto observed =
            std::ranges::find(run.callbacks, bound.name, &sim::CallbackResult::name);
        if (!bound.response || observed->response.count == 0) {
          continue;
        }
        EXPECT_LE(observed->response.max, *bound.response)
            << bound.name << " by " << bound.bound_by;
        if (bound.verdict == Verdict::meets) {
          EXPECT_EQ(observed->misses, 0U) << bound.name << " by " << bound.bound_by;
        }
        if (app.callbacks[at].lanes > 1) {
          ++bounded;
          tightness += static_cast<double>(observed->response.max.count()) /
                       static_cast<double>(bound.response->count());
        }
      }
    }
  }
  std::cout << sets << " sets, " << accepted << " accepted, " << bounded
            << " responses of lanes, on average " << tightness / std::max(1, bounded)
            << " of their bounds\n";
  EXPECT_GT(bounded, sets);
  EXPECT_GT(accepted, sets / 20);
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryLaneSimulated,
                         testing::Values("fp", "edf", "np-fp", "np-edf"), test::policy_name);

}  // namespace
}  // namespace takt::analysis
