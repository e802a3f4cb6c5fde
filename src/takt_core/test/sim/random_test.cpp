// SPDX-License-Identifier: Apache-2.0
#include "sim/random.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace takt::sim {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST(SimRandom, follows_the_quantiles) {
  const std::vector<nanoseconds> quantiles{100ns, 200ns, 400ns};  // half of it below 200
  const RandomStream stream{1, 0};
  int below = 0;
  nanoseconds sum{0};
  constexpr int draws = 100'000;
  for (std::uint64_t i = 0; i < draws; ++i) {
    const nanoseconds value = quantile(quantiles, stream.at(i));
    ASSERT_GE(value, 100ns);
    ASSERT_LE(value, 400ns);
    below += value < 200ns ? 1 : 0;
    sum += value;
  }
  EXPECT_NEAR(below, draws / 2, draws / 100);
  EXPECT_NEAR(static_cast<double>(sum.count()) / draws, (150.0 + 300.0) / 2, 2);
  const std::vector<nanoseconds> constant{7ns};
  EXPECT_EQ(quantile(constant, stream.at(3)), 7ns);
}

TEST(SimRandom, is_the_same_on_every_machine) {
  const RandomStream stream{42, 7};
  EXPECT_EQ(stream.at(0), RandomStream(42, 7).at(0));
  EXPECT_NE(stream.at(0), stream.at(1));
  EXPECT_NE(stream.at(0), RandomStream(43, 7).at(0));
  EXPECT_NE(stream.at(0), RandomStream(42, 8).at(0));
  // SplitMix64 from the state 0 begins with this number (Vigna's reference implementation).
  EXPECT_EQ(mix(0x9E3779B97F4A7C15U), 0xE220A8397B1DCDAFU);
}

}  // namespace
}  // namespace takt::sim
