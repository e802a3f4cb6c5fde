// SPDX-License-Identifier: Apache-2.0
//
// No bound of a random application rests on an offset that is unknown. By hand as
// exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "analysis/simulated_applications.hpp"
#include "analysis/unknown_offsets.hpp"
#include "takt/sched/error.hpp"

namespace takt::analysis {
namespace {

TEST(unknown_offsets, no_bound_rests_on_them) {
  OffsetTally tally;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(1500));
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    application::Application app = RandomApplication{seed}.make();
    RandomTasks random{seed};
    if (!forget_offsets(app, random)) {
      continue;
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + describe(app));
    try {
      play_offsets(app, 60ms, 6, random, tally);
    } catch (const sched::ScheduleError&) {  // an age that no schedule can keep
    }
  }
  std::cout << tally.sets << " sets, " << tally.bounded << " bounds; " << tally.wrong
            << " sets above bounds that take the offsets for 0\n";
  EXPECT_GT(tally.sets, rounds(900));
  EXPECT_GT(tally.bounded, rounds(4000));
  EXPECT_GT(tally.wrong, rounds(20));
}

}  // namespace
}  // namespace takt::analysis
