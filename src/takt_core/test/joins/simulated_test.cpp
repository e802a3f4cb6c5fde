// SPDX-License-Identifier: Apache-2.0
//
// Random applications with joins: no run is above its bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "../policies.hpp"
#include "random_joins.hpp"

namespace takt::analysis {
namespace {

class EveryJoinSimulated : public testing::TestWithParam<std::string> {};

TEST_P(EveryJoinSimulated, is_within_its_bounds) {
  Tally tally;
  // In the order of arrival bounds take ten times as long.
  const int sets = rounds(GetParam() == "rclcpp_events" ? 50 : 400);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const application::Application app = RandomJoins{seed}.make(GetParam());
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + describe(app));
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    tally.accepted += report.deadlines == Verdict::meets ? 1 : 0;
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      compare(report,
              sim::simulate(app, {.duration = nanoseconds{3000},
                                  .seed = seed,
                                  .execution = execution,
                                  .percentiles = false}),
              tally);
    }
  }
  std::cout << sets << " sets, " << tally.accepted << " accepted, " << tally.responses
            << " responses, " << tally.latencies << " latencies through joins ("
            << tally.tightness / std::max(1, tally.latencies) << " of their bounds), " << tally.busy
            << " by busy periods, " << tally.reactions << " reactions, " << tally.ages << " ages; "
            << tally.read << " ages of what is read (" << tally.read_of / std::max(1, tally.read)
            << " of their bounds), " << tally.read_busy << " by busy periods\n";
  EXPECT_GT(tally.responses, sets * 4);
  EXPECT_GT(tally.latencies, sets / 2);
  EXPECT_GT(tally.busy, sets / 20);
  EXPECT_GT(tally.reactions, sets / 10);
  EXPECT_GT(tally.ages, sets / 10);
  if (!GetParam().starts_with("rclcpp")) {  // which keep no ages
    EXPECT_GT(tally.read, sets / 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryJoinSimulated,
                         testing::Values("fp", "edf", "np-fp", "np-edf", "rclcpp_single_threaded",
                                         "rclcpp_events"),
                         test::policy_name);

}  // namespace
}  // namespace takt::analysis
