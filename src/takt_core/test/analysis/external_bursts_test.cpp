// SPDX-License-Identifier: Apache-2.0
//
// Bursts of messages from outside: what is simulated of them is within the bounds.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "analysis/random_tasks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/application/parse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

application::Application of(const std::string& policy, const std::string& topic,
                            const std::string& timer, const std::string& reader) {
  return application::parse(
      R"({"version": 1, "name": "bursts", "policy": ")" + policy +
      R"(", "cpus": [0], "topics": [{"name": "in", "depth": 9, "external": true, )" + topic +
      R"(}], "callbacks": [{"name": "own", "priority": 9, )" + timer +
      R"(}, {"name": "reader", "kind": "message", "trigger": "in", "overrun": "catch_up", )"
      R"("priority": 5, )" +
      reader + "}]}");
}

// Three at once, of 4 each, behind the timer's 1.
TEST(external_bursts, come_at_once_and_have_a_bound) {
  const auto app = of("fp", R"("external_period": 50, "external_burst": 3)",
                      R"("period": 50, "execution": {"worst": 1})",
                      R"("deadline": 50, "execution": {"worst": 4})");
  const ScenarioReport report = analyse(app).scenarios.front();
  ASSERT_TRUE(report.callbacks.back().response);
  EXPECT_EQ(*report.callbacks.back().response, nanoseconds{13});
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{200}});
  EXPECT_EQ(run.callbacks.back().response.max, nanoseconds{13});
  EXPECT_EQ(run.callbacks.back().releases, 6U);  // two more than one every 50
}

TEST(external_bursts, need_a_period) {
  for (const char* topic :
       {R"("external_burst": 3)", R"("external_period": 9, "external_burst": 0)"}) {
    EXPECT_THROW(of("fp", topic, R"("period": 50, "execution": {"worst": 1})",
                    R"("deadline": 50, "execution": {"worst": 4})"),
                 application::ParseError);
  }
}

TEST(external_bursts, no_response_is_above_its_bound) {
  RandomTasks random{61 - 1 + first_seed()};
  int bounded = 0;
  int reached = 0;
  for (int set = 0; set < rounds(300) && !HasFailure(); ++set) {
    const auto number = [&](std::int64_t least, std::int64_t most) {
      return std::to_string(random.number(least, most));
    };
    for (const char* policy : {"fp", "edf", "np-fp", "np-edf"}) {
      const auto app = of(
          policy,
          R"("external_period": )" + number(20, 60) + R"(, "external_burst": )" + number(1, 4),
          R"("period": )" + number(10, 40) + R"(, "execution": {"worst": )" + number(1, 5) + "}",
          R"("deadline": )" + number(10, 90) + R"(, "execution": {"worst": )" + number(1, 8) + "}");
      const ScenarioReport report =
          analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const auto execution = seed == 0 ? sim::ExecutionTimes::worst : sim::ExecutionTimes::drawn;
        const sim::Result run = sim::simulate(app, {.duration = nanoseconds{1000},
                                                    .seed = seed,
                                                    .execution = execution,
                                                    .percentiles = false});
        for (std::size_t i = 0; i < 2; ++i) {
          if (const auto& bound = report.callbacks[i].response) {
            ++bounded;
            reached += run.callbacks[i].response.max == *bound ? 1 : 0;
            EXPECT_LE(run.callbacks[i].response.max, *bound) << policy << " " << set << " " << i;
          }
        }
      }
    }
  }
  std::cout << bounded << " responses, " << reached << " as long as their bounds\n";
  EXPECT_GT(bounded, rounds(5000));
  EXPECT_GT(reached, rounds(1000));
}

}  // namespace
}  // namespace takt::analysis
