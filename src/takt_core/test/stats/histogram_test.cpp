// SPDX-License-Identifier: Apache-2.0
#include "takt/stats/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "stats/random_values.hpp"

namespace takt::stats {
namespace {

using std::chrono::nanoseconds;
using test::random_values;

constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
constexpr auto highest = std::numeric_limits<std::int64_t>::max();

Histogram histogram_of(const std::vector<std::int64_t>& values) {
  Histogram histogram;
  for (const std::int64_t value : values) {
    histogram.record(nanoseconds{value});
  }
  return histogram;
}

// The edges of all powers of two and of some buckets between them, with both signs.
std::vector<std::int64_t> edges() {
  std::vector<std::int64_t> values{0, lowest, highest};
  for (int bit = 0; bit < 63; ++bit) {
    for (const std::int64_t offset : {-1, 0, 1}) {
      values.push_back((std::int64_t{1} << bit) + offset);
      values.push_back(-((std::int64_t{1} << bit) + offset));
    }
  }
  return values;
}

TEST(Histogram, each_value_lies_in_its_bucket_which_is_narrow) {
  auto values = edges();
  std::ranges::copy(random_values(1, 20'000), std::back_inserter(values));
  for (const std::int64_t value : values) {
    Histogram histogram;
    histogram.record(nanoseconds{value});
    const auto buckets = histogram.buckets();
    ASSERT_EQ(buckets.size(), 1U);
    const auto& [lower, upper, count] = buckets.front();
    EXPECT_EQ(count, 1U);
    EXPECT_LE(lower.count(), value);
    EXPECT_TRUE(value < upper.count() || value == highest) << value;
    const auto width = static_cast<double>(upper.count()) - static_cast<double>(lower.count());
    EXPECT_LE(width, std::max(1.0, 0.01 * std::abs(static_cast<double>(value)))) << value;
  }
}

TEST(Histogram, buckets_ascend_without_overlap_and_hold_all) {
  const auto values = random_values(2, 50'000);
  const auto buckets = histogram_of(values).buckets();
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < buckets.size(); ++index) {
    sum += buckets[index].count;
    EXPECT_LT(buckets[index].lower, buckets[index].upper);
    if (index > 0) {
      EXPECT_LE(buckets[index - 1].upper, buckets[index].lower);
    }
  }
  EXPECT_EQ(sum, values.size());
}

TEST(Histogram, neighbouring_values_share_a_bucket_or_stand_in_touching_ones) {
  for (const std::int64_t value : edges()) {
    if (value == highest) {
      continue;
    }
    const auto buckets = histogram_of({value, value + 1}).buckets();
    if (buckets.size() == 2) {
      EXPECT_EQ(buckets[0].upper, buckets[1].lower) << value;
    }
  }
}

TEST(Histogram, values_below_256_ns_are_exact) {
  for (std::int64_t value = -255; value <= 255; ++value) {
    const auto buckets = histogram_of({value}).buckets();
    EXPECT_EQ(buckets.front().lower.count(), value);
    EXPECT_EQ(buckets.front().upper.count(), value + 1);
  }
}

TEST(Histogram, count_minimum_maximum_and_sum_are_exact) {
  const auto values = random_values(3, 10'000);
  const Histogram histogram = histogram_of(values);
  Int128 sum = 0;
  for (const std::int64_t value : values) {
    sum += value;
  }
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.min().count(), std::ranges::min(values));
  EXPECT_EQ(histogram.max().count(), std::ranges::max(values));
  EXPECT_TRUE(histogram.sum() == sum);
  EXPECT_DOUBLE_EQ(histogram.mean(), static_cast<double>(sum) / 10'000);
}

TEST(Histogram, sum_does_not_overflow_int64) {
  const Histogram histogram = histogram_of({highest, highest, highest});
  EXPECT_TRUE(histogram.sum() == Int128{highest} * 3);
}

TEST(Histogram, percentile_is_within_one_percent_of_the_nearest_rank) {
  std::mt19937_64 generator{4};
  std::lognormal_distribution<double> latency{10, 2};
  for (const int count : {1, 2, 7, 1'000, 30'000}) {
    std::vector<std::int64_t> values;
    for (int index = 0; index < count; ++index) {
      const auto value = static_cast<std::int64_t>(latency(generator));
      values.push_back(generator() % 4 == 0 ? -value : value);
    }
    const Histogram histogram = histogram_of(values);
    std::ranges::sort(values);
    for (const double percent : {0.0, 0.1, 10.0, 50.0, 90.0, 99.0, 99.9, 99.999, 100.0}) {
      const double rank = std::max(1.0, std::ceil(percent / 100 * count));
      const auto exact = static_cast<double>(values[static_cast<std::size_t>(rank) - 1]);
      EXPECT_NEAR(static_cast<double>(histogram.percentile(percent).count()), exact,
                  0.01 * std::abs(exact))
          << percent << " of " << count;
    }
    EXPECT_EQ(histogram.percentile(0).count(), values.front());
    EXPECT_EQ(histogram.percentile(100).count(), values.back());
  }
}

TEST(Histogram, merging_equals_recording_everything_in_one) {
  auto first = random_values(5, 5'000);
  const auto second = random_values(6, 3'000);
  Histogram merged = histogram_of(first);
  merged.merge(histogram_of(second));
  merged.merge(Histogram{});
  std::ranges::copy(second, std::back_inserter(first));
  const Histogram whole = histogram_of(first);
  EXPECT_EQ(merged.count(), whole.count());
  EXPECT_EQ(merged.min(), whole.min());
  EXPECT_EQ(merged.max(), whole.max());
  EXPECT_TRUE(merged.sum() == whole.sum());
  const auto left = merged.buckets();
  const auto right = whole.buckets();
  EXPECT_TRUE(std::ranges::equal(left, right, [](const auto& a, const auto& b) {
    return a.lower == b.lower && a.upper == b.upper && a.count == b.count;
  }));
}

TEST(Histogram, empty_one_has_no_statistics) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_TRUE(histogram.buckets().empty());
  EXPECT_THROW(static_cast<void>(histogram.percentile(50)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(histogram.min()), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(histogram.max()), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(histogram.mean()), std::invalid_argument);
}

TEST(Histogram, percentile_outside_of_0_to_100_is_refused) {
  const Histogram histogram = histogram_of({1});
  for (const double percent : {-0.1, 100.1, std::nan("")}) {
    EXPECT_THROW(static_cast<void>(histogram.percentile(percent)), std::invalid_argument);
  }
}

}  // namespace
}  // namespace takt::stats
