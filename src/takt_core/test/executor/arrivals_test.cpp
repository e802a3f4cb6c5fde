// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/arrivals.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace takt::executor {
namespace {

TEST(Arrivals, FromManyThreadsComeOnceEachAndInTheOrderOfTheirThread) {
  constexpr int threads = 4;
  constexpr int each = 20'000;
  Arrivals arrivals{64};
  std::atomic<int> refused{0};
  std::atomic<int> running{threads};
  std::vector<std::thread> producers;
  for (int thread = 0; thread < threads; ++thread) {
    producers.emplace_back([&, thread] {
      for (int i = 0; i < each; ++i) {
        if (!arrivals.push(os::TimePoint{std::chrono::nanoseconds{i * threads + thread}})) {
          ++refused;
        }
      }
      --running;
    });
  }
  std::vector<std::int64_t> last(threads, -1);
  int taken = 0;
  for (bool draining = true; draining;) {
    draining = running != 0;
    while (const auto time = arrivals.front()) {
      const auto value = time->time_since_epoch().count();
      ASSERT_GT(value, last[static_cast<std::size_t>(value % threads)]);
      last[static_cast<std::size_t>(value % threads)] = value;
      arrivals.pop();
      ++taken;
    }
  }
  for (std::thread& producer : producers) {
    producer.join();
  }
  EXPECT_EQ(taken + refused, threads * each);
}

}  // namespace
}  // namespace takt::executor
