// SPDX-License-Identifier: Apache-2.0
//
// In which turns a job computes and waits.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "work.hpp"

namespace takt::runner {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

std::vector<nanoseconds> all(const application::Callback& callback, nanoseconds time) {
  std::vector<nanoseconds> found;
  for (std::size_t i = 0; i < turns(callback); ++i) {
    found.push_back(turn(callback, i, time));
  }
  return found;
}

application::Callback waiting(nanoseconds suspension, std::int64_t suspensions) {
  application::Callback callback;
  callback.suspension = suspension;
  callback.suspensions = suspensions;
  callback.task.waits = suspension.count() > 0;
  return callback;
}

TEST(Turns, AJobThatDoesNotWaitComputesAllAtOnce) {
  EXPECT_EQ(all(waiting(0ns, 0), 5ms), std::vector<nanoseconds>{5ms});
}

TEST(Turns, AreEqualWhereNobodySaysWhenItWaits) {
  EXPECT_EQ(all(waiting(6ms, 0), 4ms), (std::vector<nanoseconds>{2ms, 6ms, 2ms}));
  EXPECT_EQ(all(waiting(6ms, 2), 3ms), (std::vector<nanoseconds>{1ms, 3ms, 1ms, 3ms, 1ms}));
}

TEST(Turns, AreThoseOfTheSegments) {
  application::Callback callback = waiting(9ms, 2);
  callback.segments = {{1ms, 1ms}, {4ms, 7ms}, {2ms, 6ms}, {0ms, 2ms}, {1ms, 3ms}};
  EXPECT_EQ(all(callback, 10ms), (std::vector<nanoseconds>{1ms, 7ms, 6ms, 2ms, 3ms}));
  EXPECT_EQ(all(callback, 7ms), (std::vector<nanoseconds>{1ms, 7ms, 4ms, 2ms, 2ms}));
  EXPECT_EQ(all(callback, 4ms), (std::vector<nanoseconds>{1ms, 7ms, 2ms, 2ms, 1ms}));
}

TEST(Turns, OfSegmentsWithoutARangeTakeTheirTime) {
  application::Callback callback = waiting(5ms, 1);
  callback.segments = {{1ms, 1ms}, {5ms, 5ms}, {3ms, 3ms}};
  EXPECT_EQ(all(callback, 4ms), (std::vector<nanoseconds>{1ms, 5ms, 3ms}));
}

}  // namespace
}  // namespace takt::runner
