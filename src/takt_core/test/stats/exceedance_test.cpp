// SPDX-License-Identifier: Apache-2.0
//
// The comparison with scipy is in test/python. scipy 1.17 itself is off by 1.6e-9 at k = 1,
// n = 1e8; the values here come from summing the binomial tail with 50 decimal digits.
#include "takt/stats/exceedance.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace takt::stats {
namespace {

struct Row {
  std::uint64_t exceeded;
  std::uint64_t count;
  double confidence;
  double bound;
};

constexpr std::array table{
    Row{0, 1, 0.95, 0.95},
    Row{0, 100000000, 0.95, 2.9957322286819324e-08},
    Row{1, 2, 0.95, 0.9746794344808964},
    Row{1, 1000, 0.95, 0.004734993575499778},
    Row{3, 10, 0.9, 0.5517308323835991},
    Row{9, 10, 0.99, 0.99899547129175},
    Row{5, 1000, 0.999, 0.016360751154977753},
    Row{1, 100000000, 0.9, 3.8897201136664156e-08},
    Row{100, 100000000, 0.95, 1.1807926210815822e-06},
    Row{1000, 1000000, 0.95, 0.001053574877454436},
    Row{7, 20, 0.1, 0.24906482137980862},
    Row{2500, 5000, 0.95, 0.5117286740409437},
};

TEST(Exceedance, bound_equals_the_exact_one) {
  for (const auto& [exceeded, count, confidence, bound] : table) {
    EXPECT_NEAR(exceedance(exceeded, count, confidence).upper_bound, bound, 1e-12 * bound)
        << exceeded << " of " << count;
  }
}

// P(X <= k) for a binomial X, in the most direct way.
double tail(std::uint64_t k, std::uint64_t n, double p) {
  long double sum = 0;
  for (std::uint64_t i = 0; i <= k; ++i) {
    long double term = 1;
    for (std::uint64_t j = 0; j < n; ++j) {
      term *= j < i ? static_cast<long double>(p) * static_cast<long double>(n - j) /
                          static_cast<long double>(i - j)
                    : 1 - static_cast<long double>(p);
    }
    sum += term;
  }
  return static_cast<double>(sum);
}

TEST(Exceedance, at_the_bound_so_few_come_up_in_just_a_fraction_1_minus_confidence) {
  for (std::uint64_t n = 1; n <= 40; ++n) {
    for (std::uint64_t k = 0; k < n; ++k) {
      for (const double confidence : {1e-3, 0.05, 0.49, 0.5, 0.51, 0.9, 0.95, 0.999}) {
        const double bound = exceedance(k, n, confidence).upper_bound;
        EXPECT_NEAR(tail(k, n, bound), 1 - confidence, 1e-11) << k << " of " << n;
      }
    }
  }
}

TEST(Exceedance, bound_grows_with_what_was_exceeded_and_with_confidence) {
  for (const std::uint64_t n : {10U, 1'000U, 1'000'000U}) {
    double last = 0;
    for (std::uint64_t k = 0; k <= 10; ++k) {
      const double bound = exceedance(k, n).upper_bound;
      EXPECT_GT(bound, last);
      EXPECT_LE(bound, 1);
      EXPECT_GE(exceedance(k, n, 0.99).upper_bound, bound);
      last = bound;
    }
  }
}

TEST(Exceedance, more_samples_with_the_same_share_bring_the_bound_down) {
  double last = 1;
  for (std::uint64_t n = 10; n <= 100'000'000; n *= 10) {
    const auto result = exceedance(n / 10, n);
    EXPECT_LT(result.upper_bound, last);
    EXPECT_GT(result.upper_bound, result.probability);
    last = result.upper_bound;
  }
}

TEST(Exceedance, when_all_exceeded_the_bound_is_certainty) {
  for (const std::uint64_t n : {1U, 2U, 100'000'000U}) {
    const auto result = exceedance(n, n);
    EXPECT_EQ(result.probability, 1);
    EXPECT_EQ(result.upper_bound, 1);
  }
}

TEST(Exceedance, extreme_confidence_still_gives_a_bound_in_range) {
  for (const double confidence : {1e-12, 1 - 1e-12}) {
    for (const std::uint64_t k : {1U, 500U, 999U}) {
      const double bound = exceedance(k, 1'000, confidence).upper_bound;
      EXPECT_GT(bound, 0);
      EXPECT_LE(bound, 1);
    }
  }
}

TEST(Exceedance, impossible_numbers_are_refused) {
  EXPECT_THROW(exceedance(0, 0), std::invalid_argument);
  EXPECT_THROW(exceedance(2, 1), std::invalid_argument);
  for (const double confidence : {0.0, 1.0, -0.5, 1.5, std::nan("")}) {
    EXPECT_THROW(exceedance(1, 2, confidence), std::invalid_argument);
  }
}

}  // namespace
}  // namespace takt::stats
