// SPDX-License-Identifier: Apache-2.0
//
// The comparison with numpy, bit by bit, is in test/python.
#include "takt/stats/order_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "stats/random_values.hpp"

namespace takt::stats {
namespace {

TEST(OrderStatistics, percentiles_at_whole_ranks_are_the_sorted_values) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    auto values = test::random_values(seed, 101);
    std::vector<double> percents;
    for (int percent = 100; percent >= 0; --percent) {  // the order asked for is kept
      percents.push_back(percent);
    }
    const auto statistics = order_statistics(values, percents);
    std::ranges::sort(values, std::greater<>{});
    for (std::size_t index = 0; index < values.size(); ++index) {
      // p / 100 * 100 may miss the whole number by a rounding: neighbours can be 2^64 apart.
      const auto expected = static_cast<double>(values[index]);
      EXPECT_NEAR(statistics.percentiles[index], expected, 1e-12 * 0x1p64);
    }
    EXPECT_EQ(statistics.min, values.back());
    EXPECT_EQ(statistics.max, values.front());
  }
}

TEST(OrderStatistics, between_ranks_is_interpolated_linearly) {
  const std::array<std::int64_t, 4> values{40, 10, 20, 30};
  const std::array percents{50.0, 25.0, 90.0};
  const auto statistics = order_statistics(values, percents);
  EXPECT_DOUBLE_EQ(statistics.percentiles[0], 25);
  EXPECT_DOUBLE_EQ(statistics.percentiles[1], 17.5);
  EXPECT_DOUBLE_EQ(statistics.percentiles[2], 37);
  EXPECT_DOUBLE_EQ(statistics.mean, 25);
  EXPECT_DOUBLE_EQ(statistics.stddev, std::sqrt(125));
}

TEST(OrderStatistics, one_value_is_all_its_statistics) {
  const std::array<std::int64_t, 1> values{-7};
  const std::array percents{0.0, 37.0, 100.0};
  const auto statistics = order_statistics(values, percents);
  EXPECT_EQ(statistics.count, 1U);
  EXPECT_EQ(statistics.mean, -7);
  EXPECT_EQ(statistics.stddev, 0);
  EXPECT_EQ(statistics.percentiles, (std::vector<double>{-7, -7, -7}));
}

TEST(OrderStatistics, large_common_offset_costs_no_digits) {
  // Around 2^61 a double steps by 512: the naive sum of squares would lose everything.
  constexpr std::int64_t offset = std::int64_t{1} << 61;
  std::vector<std::int64_t> values;
  for (int index = 0; index < 10'000; ++index) {
    values.push_back(offset + (index % 2 == 0 ? 3 : -3));
  }
  const auto statistics = order_statistics(values, {});
  EXPECT_DOUBLE_EQ(statistics.stddev, 3);
  EXPECT_DOUBLE_EQ(statistics.mean, static_cast<double>(offset));
}

TEST(OrderStatistics, ends_of_the_range_do_not_overflow) {
  const std::array<std::int64_t, 2> values{std::numeric_limits<std::int64_t>::min(),
                                           std::numeric_limits<std::int64_t>::max()};
  const std::array percents{50.0};
  const auto statistics = order_statistics(values, percents);
  EXPECT_DOUBLE_EQ(statistics.mean, -0.5);
  EXPECT_DOUBLE_EQ(statistics.stddev, 0x1p63);
  EXPECT_NEAR(statistics.percentiles[0], 0, 1024);
}

TEST(OrderStatistics, no_values_or_a_percentile_out_of_range_are_refused) {
  const std::array<std::int64_t, 1> values{1};
  EXPECT_THROW(order_statistics({}, {}), std::invalid_argument);
  for (const double percent : {-1e-9, 100.001, std::nan("")}) {
    EXPECT_THROW(order_statistics(values, std::array{percent}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace takt::stats
