// SPDX-License-Identifier: Apache-2.0
#include "takt/os/saturating.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace takt::os {
namespace {

using std::chrono::nanoseconds;
using Rep = nanoseconds::rep;

constexpr Rep least = std::numeric_limits<Rep>::min();
constexpr Rep most = std::numeric_limits<Rep>::max();

// In a type that has room for it.
template <class Count, class Wide>
Count clamped(Wide exact) {
  return static_cast<Count>(std::clamp<Wide>(exact, std::numeric_limits<Count>::min(),
                                             std::numeric_limits<Count>::max()));
}

TEST(Saturating, IsExactOrTheEndOfTheRangeForEveryPairOfSmallIntegers) {
  using Count = std::int8_t;
  for (int a = std::numeric_limits<Count>::min(); a <= std::numeric_limits<Count>::max(); ++a) {
    for (int b = std::numeric_limits<Count>::min(); b <= std::numeric_limits<Count>::max(); ++b) {
      const auto x = static_cast<Count>(a);
      const auto y = static_cast<Count>(b);
      ASSERT_EQ(add_sat(x, y), clamped<Count>(a + b)) << a << " + " << b;
      ASSERT_EQ(sub_sat(x, y), clamped<Count>(a - b)) << a << " - " << b;
      ASSERT_EQ(mul_sat(x, y), clamped<Count>(a * b)) << a << " * " << b;
    }
  }
}

TEST(Saturating, IsExactOrTheEndOfTimeAroundEveryBorder) {
  __extension__ using Wide = __int128;
  constexpr Rep around = 4;
  constexpr Rep root = 3'037'000'499;  // whose square is the last one that fits
  std::vector<Rep> values;
  for (Rep step = 0; step <= around; ++step) {
    values.insert(values.end(), {least + step, most - step});
    for (const Rep middle : {least / 2, most / 2, Rep{0}, root, -root}) {
      values.insert(values.end(), {middle - step, middle + step});
    }
  }
  for (const Rep a : values) {
    for (const Rep b : values) {
      const nanoseconds x{a};
      const nanoseconds y{b};
      const nanoseconds sum{clamped<Rep>(Wide{a} + b)};
      const nanoseconds difference{clamped<Rep>(Wide{a} - b)};
      ASSERT_EQ(add_sat(x, y), sum) << a << " + " << b;
      ASSERT_EQ(add_sat(TimePoint{x}, y), TimePoint{sum}) << a << " + " << b;
      ASSERT_EQ(sub_sat(x, y), difference) << a << " - " << b;
      ASSERT_EQ(sub_sat(TimePoint{x}, y), TimePoint{difference}) << a << " - " << b;
      ASSERT_EQ(sub_sat(TimePoint{x}, TimePoint{y}), difference) << a << " - " << b;
      ASSERT_EQ(mul_sat(x, b), nanoseconds{clamped<Rep>(Wide{a} * b)}) << a << " * " << b;
    }
  }
}

// Where a constant is wanted, overflow would not compile.
static_assert(add_sat(TimePoint::max(), nanoseconds{1}) == TimePoint::max());
static_assert(sub_sat(TimePoint::min(), nanoseconds{1}) == TimePoint::min());
static_assert(sub_sat(TimePoint::max(), TimePoint::min()) == nanoseconds::max());
static_assert(mul_sat(nanoseconds::min(), -1) == nanoseconds::max());

TEST(Saturating, TheKernelTakesEveryTime) {
  for (const Rep count : std::array{least, Rep{-1}, Rep{0}, Rep{1}, most - 1, most}) {
    const timespec time = to_timespec(TimePoint{nanoseconds{count}});
    EXPECT_GE(time.tv_sec, 0) << count;
    EXPECT_GE(time.tv_nsec, 0) << count;
    EXPECT_LT(time.tv_nsec, 1'000'000'000) << count;
    EXPECT_EQ(std::chrono::seconds{time.tv_sec} + nanoseconds{time.tv_nsec},
              nanoseconds{std::max(count, Rep{0})});
  }
}

}  // namespace
}  // namespace takt::os
