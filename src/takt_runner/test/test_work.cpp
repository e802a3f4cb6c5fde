// SPDX-License-Identifier: Apache-2.0
//
// In which turns a job computes and waits, and how the middleware of a process runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "described.hpp"
#include "device.hpp"
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

TEST(Receivers, AreAboveAllWhereNoThreadIsDescribed) {
  const application::Process driven{.cpu = 1, .threads = {{.priority = 90, .period = 1ms}}};
  for (const application::Process& process : {application::Process{}, driven}) {
    EXPECT_EQ(receivers_of(process).priority, os::max_priority);
    EXPECT_TRUE(receivers_of(process).cpus.empty());
  }
}

TEST(Receivers, HaveTheHighestOfTheirPrioritiesAndTheirCores) {
  const application::Process process{
      .cpu = 1,
      .threads = {{.priority = 70, .receives = {{.topic = "a"}}},
                  {.priority = 90, .period = 1ms},
                  {.cpu = 3, .priority = 60, .receives = {{.topic = "b"}}}}};
  EXPECT_EQ(receivers_of(process).priority, 70);
  EXPECT_EQ(receivers_of(process).cpus, (std::vector<int>{1, 3}));
}

// Of two, whichever comes first, the other one is served after it.
TEST(Devices, ServeOneRequestAfterTheOther) {
  std::atomic<std::int64_t> free_at{0};
  const os::TimePoint begin = os::now();
  const os::TimePoint first = occupy(free_at, 1h);
  const os::TimePoint second = occupy(free_at, 2h);
  EXPECT_GE(first, begin + 1h);
  EXPECT_EQ(second, first + 2h);
  std::vector<os::TimePoint> ends(4);
  std::vector<std::thread> threads;
  for (os::TimePoint& end : ends) {
    threads.emplace_back([&] { end = occupy(free_at, 1h); });
  }
  for (std::thread& one : threads) {
    one.join();
  }
  std::ranges::sort(ends);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(ends[i], second + (static_cast<int>(i) + 1) * 1h);
  }
}

TEST(Devices, AreOccupiedWithinTheDeclaredRange) {
  application::Callback callback;
  callback.segments = {{.shortest = 1ms, .longest = 1ms},
                       {.shortest = 2ms, .longest = 9ms, .device = "gpu", .occupies = 4ms},
                       {.shortest = 1ms, .longest = 1ms}};
  callback.task.waits = true;
  const DrawnRequests requests{callback, 7, 1};
  std::vector<nanoseconds> drawn;
  for (std::uint64_t job = 0; job < 1000; ++job) {
    drawn.push_back(requests.of(job, 1));
  }
  const auto [least, most] = std::ranges::minmax(drawn);
  EXPECT_GE(least, 2ms);
  EXPECT_LE(most, 4ms);
  EXPECT_LT(least, 2100us);
  EXPECT_GT(most, 3900us);
}

}  // namespace
}  // namespace takt::runner
