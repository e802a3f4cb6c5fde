// SPDX-License-Identifier: Apache-2.0
//
// No bound of a chain through joins rests on an offset that is unknown: there the distances of
// timers matter most.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "../policies.hpp"
#include "analysis/unknown_offsets.hpp"
#include "random_joins.hpp"

namespace takt::analysis {
namespace {

class JoinsOfUnknownOffsets : public testing::TestWithParam<std::string> {};

TEST_P(JoinsOfUnknownOffsets, are_within_their_bounds) {
  OffsetTally tally;
  const int sets = rounds(GetParam() == "rclcpp_events" ? 15 : 250);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    application::Application app = RandomJoins{seed}.make(GetParam());
    RandomTasks random{seed};
    if (!forget_offsets(app, random)) {
      continue;
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + describe(app));
    play_offsets(app, nanoseconds{1500}, 6, random, tally);
  }
  std::cout << tally.sets << " sets, " << tally.bounded << " bounds; " << tally.wrong
            << " sets above bounds that take the offsets for 0\n";
  EXPECT_GT(tally.sets, sets / 2);
  EXPECT_GT(tally.bounded, sets * 4);
  if (GetParam().starts_with("rclcpp")) {
    EXPECT_EQ(tally.wrong, 0);  // no timer of theirs keeps its offset: no bound uses one
  } else {
    EXPECT_GT(tally.wrong, sets / 50);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, JoinsOfUnknownOffsets,
                         testing::Values("fp", "edf", "np-fp", "np-edf", "rclcpp_single_threaded",
                                         "rclcpp_events"),
                         test::policy_name);

}  // namespace
}  // namespace takt::analysis
