// SPDX-License-Identifier: Apache-2.0
#include "takt/stats/extremes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "stats/random_values.hpp"

namespace takt::stats {
namespace {

using std::chrono::nanoseconds;

std::vector<Extreme> numbered(const std::vector<std::int64_t>& values) {
  std::vector<Extreme> result;
  for (std::size_t index = 0; index < values.size(); ++index) {
    result.push_back({.index = index, .value = nanoseconds{values[index]}});
  }
  return result;
}

Extremes extremes_of(const std::vector<std::int64_t>& values, std::size_t capacity) {
  Extremes extremes{capacity};
  for (const Extreme& sample : numbered(values)) {
    extremes.record(sample.index, sample.value);
  }
  return extremes;
}

// What a stable sort of everything gives.
template <typename Order>
std::vector<Extreme> oracle(const std::vector<std::int64_t>& values, std::size_t capacity,
                            Order order) {
  auto sorted = numbered(values);
  std::ranges::stable_sort(sorted, order, &Extreme::value);
  sorted.resize(std::min(capacity, sorted.size()));
  return sorted;
}

TEST(Extremes, equal_the_ends_of_a_stable_sort) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    for (const std::size_t count : {0U, 1U, 9U, 10U, 11U, 500U}) {
      auto values = test::random_values(seed, count);
      if (seed % 2 == 1) {
        for (auto& value : values) {
          value %= 5;  // many ties
        }
      }
      const Extremes extremes = extremes_of(values, 10);
      EXPECT_TRUE(std::ranges::equal(extremes.highest(), oracle(values, 10, std::greater<>{})));
      EXPECT_TRUE(std::ranges::equal(extremes.lowest(), oracle(values, 10, std::less<>{})));
    }
  }
}

TEST(Extremes, of_equal_values_the_first_recorded_are_kept) {
  const Extremes extremes = extremes_of({5, 5, 5, 5}, 2);
  EXPECT_EQ(extremes.highest()[0].index, 0U);
  EXPECT_EQ(extremes.highest()[1].index, 1U);
  EXPECT_EQ(extremes.lowest()[1].index, 1U);
}

TEST(Extremes, capacity_zero_keeps_nothing) {
  const Extremes extremes = extremes_of({1, 2, 3}, 0);
  EXPECT_TRUE(extremes.highest().empty());
  EXPECT_TRUE(extremes.lowest().empty());
}

}  // namespace
}  // namespace takt::stats
