// SPDX-License-Identifier: Apache-2.0
//
// Rounds of a scenario that come to no end by themselves, or after many rounds only. Jitters go to
// and fro where a callback of a chain is due later: it is blocked less, and its message comes
// earlier.
#include <gtest/gtest.h>

#include "../analysis/documents.hpp"
#include "../policies.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

std::string released(const std::string& name, int period, int jitter, int deadline, int best,
                     int worst, const std::string& topic) {
  return "{'name': '" + name + "', 'period': " + std::to_string(period) +
         ", 'jitter': " + std::to_string(jitter) + ", 'deadline': " + std::to_string(deadline) +
         ", 'priority': 1, 'overrun': 'catch_up', 'execution': {'best': " + std::to_string(best) +
         ", 'worst': " + std::to_string(worst) + "}, 'writes': ['" + topic + "']}, ";
}

// `input`: of a join; empty: of none.
std::string on(const std::string& topic, int best, int worst, int deadline,
               const std::string& writes, const std::string& input = "") {
  return "{'name': '" + writes + "." + input + "', 'kind': 'message', 'trigger': '" + topic +
         "', 'overrun': 'catch_up', 'priority': 5, 'deadline': " + std::to_string(deadline) +
         ", 'execution': {'best': " + std::to_string(best) + ", 'worst': " + std::to_string(worst) +
         "}, 'writes': ['" + writes + "']" +
         (input.empty() ? "" : ", 'node': '" + writes + "', 'join': 'all'") + "}, ";
}

// All topics keep all messages.
application::Application described(const std::string& policy, std::string callbacks,
                                   const std::vector<std::string>& topics) {
  callbacks.resize(callbacks.size() - 2);
  std::string all;
  for (const std::string& topic : topics) {
    all += (all.empty() ? "" : ", ") + ("{'name': '" + topic + "', 'depth': 100}");
  }
  application::Application result = parsed(app(callbacks, ", 'topics': [" + all + "]"));
  result.policy = policy;
  return result;
}

// Each callback has a bound, and none above the longest time that the core is busy after the latest
// notice of a release.
void expect_bounds(const application::Application& app, nanoseconds busy, nanoseconds late) {
  const sched::CompiledStrategy strategy = application::compile(app);
  EXPECT_EQ((ScenarioModel{app, strategy, strategy.scenarios().front()}.longest_busy(0)), busy);
  const Report report = analyse(app, {.sensitivity = false, .proposals = false});
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{5000}});
  for (std::size_t i = 0; i < app.callbacks.size(); ++i) {
    const CallbackReport& callback = report.scenarios.front().callbacks[i];
    ASSERT_TRUE(callback.response) << callback.name;
    EXPECT_LE(*callback.response, busy + late) << callback.name;
    EXPECT_GE(*callback.response, run.callbacks[i].response.max) << callback.name;
  }
}

class Rounds : public testing::TestWithParam<std::string> {};

TEST_P(Rounds, come_to_an_end_where_jitters_go_to_and_fro) {
  const application::Application app = described(
      GetParam(),
      released("last", 18, 17, 1000, 0, 2, "end") + released("source", 12, 1, 57, 1, 2, "data") +
          on("data", 3, 3, 45, "both", "one") + on("data", 0, 2, 46, "both", "other") +
          on("both", 2, 2, 35, "read"),
      {"end", "data", "both", "read"});
  expect_bounds(app, nanoseconds{33}, nanoseconds{17});
  EXPECT_TRUE(accepts(app));
}

INSTANTIATE_TEST_SUITE_P(Policies, Rounds, testing::Values("edf", "np-edf"), test::policy_name);

// At a load of nearly 1 the jitters of messages grow for so long that no other test has steps left.
TEST(LongRounds, leave_the_bound_by_the_busy_core) {
  const application::Application app =
      described("rclcpp_events",
                released("a", 36, 1, 1000, 2, 2, "end") + released("b", 24, 16, 1000, 4, 4, "one") +
                    released("c", 18, 8, 1000, 4, 4, "two") + on("one", 3, 4, 1000, "both", "x") +
                    on("two", 2, 2, 1000, "both", "y") + on("two", 1, 1, 1000, "both", "z") +
                    on("both", 1, 1, 1000, "read") + on("read", 2, 2, 1000, "again", "x") +
                    on("read", 1, 1, 1000, "again", "y") + on("again", 1, 1, 1000, "last"),
                {"end", "one", "two", "both", "read", "again", "last"});
  expect_bounds(app, nanoseconds{1376}, nanoseconds{16});
}

}  // namespace
}  // namespace takt::analysis
