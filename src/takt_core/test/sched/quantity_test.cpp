// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/quantity.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "takt/sched/task.hpp"

namespace takt::sched {
namespace {

std::string refusal(Quantity quantity, const std::string& text) {
  try {
    return "read as " + std::to_string(parse_quantity(quantity, text));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

std::string many(char digit, const std::string& unit) {
  std::string text(70, digit);
  return text.append(unit);
}

TEST(Quantities, areExact) {
  EXPECT_EQ(parse_quantity(Quantity::duration, "2.5 ms"), 2'500'000);
  EXPECT_EQ(parse_quantity(Quantity::duration, " 0.1\u00b5s\n"), 100);
  EXPECT_EQ(parse_quantity(Quantity::duration, "7\u2009\u03bcs"), 7'000);
  EXPECT_EQ(parse_quantity(Quantity::duration, "876000h"), longest_time.count());
  EXPECT_EQ(parse_quantity(Quantity::duration, "0.0001220703125h"), 439'453'125);  // 2^-13 h
  EXPECT_EQ(parse_quantity(Quantity::duration, "0000000000000000000000001.50000000000000000000ms"),
            1'500'000);
  EXPECT_EQ(parse_quantity(Quantity::size, "0.00000095367431640625MiB"), 1);  // 2^-20 MiB
  EXPECT_EQ(parse_quantity(Quantity::size, "9223372036854775807B"), 9'223'372'036'854'775'807);
  EXPECT_EQ(parse_quantity(Quantity::bandwidth, "100Gbps"), 100'000'000'000);
  EXPECT_EQ(parse_quantity(Quantity::share, "0.1%"), 1'000);
}

TEST(Quantities, ofARateAreThePeriodToTheNearestNanosecond) {
  EXPECT_EQ(parse_quantity(Quantity::rate, "29.97Hz"), 33'366'700);
  EXPECT_EQ(parse_quantity(Quantity::rate, "400MHz"), 2);  // 2.5 ns
  EXPECT_EQ(parse_quantity(Quantity::rate, many('9', "MHz")), 1);
  EXPECT_EQ(refusal(Quantity::rate, "0.000 Hz"), "must be greater than 0 Hz");
  for (const char* const rare : {"0.0000000001Hz", "0.000000000000000000000000000000000001Hz"}) {
    EXPECT_EQ(refusal(Quantity::rate, rare), "is less than once in a hundred years");
  }
}

TEST(Quantities, outOfTheirRangeAreRefused) {
  EXPECT_EQ(refusal(Quantity::duration, "876001h"), "is longer than a hundred years");
  EXPECT_EQ(refusal(Quantity::duration, many('9', "ns")), "is longer than a hundred years");
  EXPECT_EQ(refusal(Quantity::duration, "0.5ns"), "is not a whole number of ns");
  EXPECT_EQ(refusal(Quantity::duration, "1." + many('3', "h")), "is not a whole number of ns");
  EXPECT_EQ(refusal(Quantity::size, "9223372036854775808B"), "does not fit in 64 bits");
  EXPECT_EQ(refusal(Quantity::bandwidth, "0bps"), "must be greater than 0 and at most 100Gbps");
  EXPECT_EQ(refusal(Quantity::share, "100.0001%"), "exceeds 100%");
}

TEST(Quantities, withoutAnOwnUnitAreRefused) {
  for (const std::string text :
       {"", " ", "5", "ms", ".5ms", "5.ms", "-1ms", "+1ms", "1e3ms", "1,5ms", "5 ms 3 us", "5 Ms",
        "0x10ms", "nan ms", "30Hz", "5m s", "\xff", "5\xc2"}) {
    EXPECT_EQ(refusal(Quantity::duration, text),
              "is not a duration such as 10ms (units: ns, us, ms, s, min, h)")
        << text;
    EXPECT_FALSE(has_unit_of(Quantity::duration, text)) << text;
  }
  EXPECT_FALSE(has_unit_of(Quantity::rate, many('9', "          Hz")));
  EXPECT_TRUE(has_unit_of(Quantity::rate, "0hz"));
}

}  // namespace
}  // namespace takt::sched
