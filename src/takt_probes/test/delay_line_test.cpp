// SPDX-License-Identifier: Apache-2.0
#include "delay_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <vector>

namespace takt::relay {
namespace {

using namespace std::chrono_literals;

Frame frame(const DelayLine& line, std::chrono::nanoseconds due, std::uint32_t length) {
  return {.due = os::TimePoint{due}, .arrived = {}, .slot = *line.free_slot(), .length = length};
}

std::vector<std::uint32_t> emptied(DelayLine& line) {
  std::vector<std::uint32_t> lengths;
  while (!line.empty()) {
    lengths.push_back(line.first().length);
    line.pop();
  }
  return lengths;
}

TEST(DelayLine, GivesFramesInTheOrderInWhichTheyAreDue) {
  DelayLine line{8};
  std::uint32_t length = 0;
  for (const auto due : {5ms, 3ms, 9ms, 3ms, 1ms}) {
    line.push(frame(line, due, ++length));
  }
  EXPECT_EQ(emptied(line), (std::vector<std::uint32_t>{5, 2, 4, 1, 3}));
}

TEST(DelayLine, HasNoSlotWhenAllAreTakenAndOneAgainAfterwards) {
  DelayLine line{3};
  std::set<std::uint32_t> slots;
  for (int number = 0; number < 3; ++number) {
    slots.insert(*line.free_slot());
    line.push(frame(line, 1ms, 1));
  }
  EXPECT_EQ(slots.size(), 3U);
  EXPECT_FALSE(line.free_slot());
  line.pop();
  ASSERT_TRUE(line.free_slot());
  EXPECT_TRUE(slots.contains(*line.free_slot()));
}

TEST(DelayLine, KeepsTheBytesOfEachFrameApart) {
  DelayLine line{4};
  for (std::uint32_t number = 0; number < 4; ++number) {
    const Frame one = frame(line, std::chrono::milliseconds{number}, number);
    std::fill_n(line.bytes(one.slot), DelayLine::slot_bytes, static_cast<std::byte>(number));
    line.push(one);
  }
  for (std::uint32_t number = 0; number < 4; ++number) {
    const std::byte* bytes = line.bytes(line.first().slot);
    EXPECT_EQ(std::count(bytes, bytes + DelayLine::slot_bytes, static_cast<std::byte>(number)),
              static_cast<std::ptrdiff_t>(DelayLine::slot_bytes));
    line.pop();
  }
}

TEST(Chance, LosesTheShareThatWasAsked) {
  constexpr int frames = 100'000;
  for (const double loss : {0.0, 0.01, 0.5, 1.0}) {
    Chance chance{{.delay = 0ns, .jitter = 0ns, .loss = loss}, 7};
    int lost = 0;
    for (int number = 0; number < frames; ++number) {
      lost += chance.loses() ? 1 : 0;
    }
    // Five standard deviations; exact at both ends.
    const double room = 5.0 * std::sqrt(loss * (1 - loss) * frames);
    EXPECT_NEAR(lost, loss * frames, room);
  }
}

TEST(Chance, DrawsDelaysEvenlyAroundTheOneThatWasAsked) {
  Chance chance{{.delay = 10ms, .jitter = 2ms, .loss = 0.0}, 7};
  std::chrono::nanoseconds sum{0};
  std::chrono::nanoseconds least = 1h;
  std::chrono::nanoseconds greatest{0};
  constexpr int frames = 100'000;
  for (int number = 0; number < frames; ++number) {
    const auto delay = chance.delay();
    sum += delay;
    least = std::min(least, delay);
    greatest = std::max(greatest, delay);
  }
  EXPECT_GE(least, 8ms);
  EXPECT_LT(least, 8010us);
  EXPECT_LE(greatest, 12ms);
  EXPECT_GT(greatest, 11990us);
  EXPECT_NEAR(static_cast<double>((sum / frames).count()), 1e7, 2e4);
}

TEST(Chance, DoesNotSendIntoThePast) {
  Chance chance{{.delay = 1ms, .jitter = 5ms, .loss = 0.0}, 7};
  for (int number = 0; number < 1000; ++number) {
    EXPECT_GE(chance.delay(), 0ns);
  }
}

TEST(Chance, IsTheSameForTheSameSeed) {
  const Impairment impairment{.delay = 10ms, .jitter = 2ms, .loss = 0.3};
  Chance one{impairment, 3};
  Chance same{impairment, 3};
  Chance other{impairment, 4};
  bool differs = false;
  for (int number = 0; number < 100; ++number) {
    const auto drawn = one.delay();
    EXPECT_EQ(drawn, same.delay());
    differs = differs || drawn != other.delay();
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace takt::relay
