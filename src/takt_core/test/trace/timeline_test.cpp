// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/timeline.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace takt::trace {
namespace {

Event on_core(std::uint16_t core, std::int64_t time, EventType type, std::uint16_t task,
              std::uint64_t job = 0) {
  return {.time = time, .job = job, .task = task, .core = core, .type = type};
}

// "task:begin-end" of each slice.
std::string text(const Timeline& timeline) {
  std::string result;
  for (const Slice& slice : timeline.slices) {
    result += (result.empty() ? "" : " ") + std::to_string(slice.task) + ":" +
              std::to_string(slice.begin) + "-" + std::to_string(slice.end);
  }
  return result;
}

TEST(Timeline, DerivesPreemptionFromNesting) {
  using enum EventType;
  const Timeline result =
      timeline({on_core(0, 0, start, 1), on_core(0, 10, start, 2), on_core(0, 15, start, 3),
                on_core(0, 20, end, 3), on_core(0, 30, end, 2), on_core(0, 50, end, 1)});
  EXPECT_EQ(text(result), "1:0-10 2:10-15 3:15-20 2:20-30 1:30-50");
  EXPECT_EQ(result.not_nested(), 0U);
}

TEST(Timeline, TakesThePreemptionsOfTheSimulatorAsTheyAre) {
  using enum EventType;
  const Timeline result =
      timeline({on_core(0, 0, start, 1), on_core(0, 10, preempt, 1), on_core(0, 10, start, 2),
                on_core(0, 30, end, 2), on_core(0, 30, resume, 1), on_core(0, 50, end, 1)});
  EXPECT_EQ(text(result), "1:0-10 2:10-30 1:30-50");
}

// 1 goes on before 2 and 3 have ended, then 1 goes on before 3 has only when that ends.
TEST(Timeline, MovesAJobThatIsBoostedAboveThoseThatItComesBefore) {
  using enum EventType;
  const auto boosted = [](std::uint8_t above) {
    Event event = on_core(0, 20, boost, 1);
    event.detail = above;
    return timeline({on_core(0, 0, start, 1), on_core(0, 10, start, 2), on_core(0, 15, start, 3),
                     event, on_core(0, 30, end, above == 0 ? 1 : 3),
                     on_core(0, 40, end, above == 0 ? 3 : 1), on_core(0, 50, end, 2)});
  };
  EXPECT_EQ(text(boosted(0)), "1:0-10 2:10-15 3:15-20 1:20-30 3:30-40 2:40-50");
  EXPECT_EQ(text(boosted(1)), "1:0-10 2:10-15 3:15-30 1:30-40 2:40-50");
  EXPECT_EQ(boosted(0).not_nested(), 0U);
}

TEST(Timeline, KeepsCoresApart) {
  using enum EventType;
  const Timeline result = timeline({on_core(0, 0, start, 1), on_core(1, 10, start, 2),
                                    on_core(0, 20, end, 1), on_core(1, 30, end, 2)});
  EXPECT_EQ(text(result), "1:0-20 2:10-30");
}

TEST(Timeline, FindsTheJobThatMovedToAnotherCore) {
  using enum EventType;
  const Timeline result = timeline({on_core(0, 0, start, 1), on_core(1, 20, end, 1)});
  EXPECT_EQ(text(result), "1:0-20");
}

TEST(Timeline, ForgetsTheJobWhoseEndWasLostWhenItsTaskStartsAnother) {
  using enum EventType;
  const Timeline result = timeline({on_core(0, 0, start, 1, 0), on_core(0, 10, start, 2, 0),
                                    on_core(0, 20, end, 2, 0),  // the end of 1 is lost
                                    on_core(0, 100, start, 1, 1), on_core(0, 110, end, 1, 1),
                                    on_core(0, 120, start, 2, 1), on_core(0, 130, end, 2, 1)});
  EXPECT_EQ(text(result), "1:0-10 2:10-20 1:100-110 2:120-130");
  EXPECT_EQ(result.not_nested(), 0U);
}

TEST(Timeline, KeepsJobsOfATaskThatRunsThemAtOnce) {
  using enum EventType;
  const auto ends = [](const std::string& policy) {
    About about;
    about.attributes = {"policy.default=" + policy};
    Timeline result{about};
    for (const Event& event :
         {on_core(0, 0, start, 1, 0), on_core(1, 10, start, 1, 1), on_core(0, 20, end, 1, 0),
          on_core(0, 25, start, 1, 2), on_core(1, 30, end, 1, 1), on_core(0, 40, end, 1, 2)}) {
      result.take(event);
    }
    result.close();
    std::vector<std::int64_t> ends;
    for (const Job& job : result.jobs) {
      ends.push_back(job.end);
    }
    return ends;
  };
  const std::vector<std::int64_t> all{20, 30, 40};
  EXPECT_EQ(ends("rclcpp_multi_threaded"), all);
  EXPECT_EQ(ends("robot"), all);
  EXPECT_NE(ends("fp"), all);  // where the ends of two were lost
}

TEST(Timeline, ReportsTheOrderThatEachCoreFollowsByTheNamesOfItsPolicies) {
  About about;
  about.scenarios = {{0, "drive"}, {1, "dock"}};
  about.attributes = {"policy.drive=fp", "policy.dock=cw-edf", "scenario=drive"};
  Timeline result{about};
  const auto at = [](std::uint64_t job) {
    return on_core(0, static_cast<std::int64_t>(job), EventType::release, 1, job);
  };
  result.take(at(0));
  result.take({.time = 1, .value = 1, .core = 0, .type = EventType::scenario});
  result.take(at(2));
  result.take(on_core(1, 3, EventType::release, 2));  // this core has not changed yet
  result.close();
  ASSERT_EQ(result.jobs.size(), 3U);
  EXPECT_FALSE(result.jobs[0].by_deadline);
  EXPECT_TRUE(result.jobs[1].by_deadline);
  EXPECT_FALSE(result.jobs[2].by_deadline);
}

TEST(Timeline, TakesAPolicyOfTheUsersOwnForOneOfPriorities) {
  About about;
  about.attributes = {"policy.default=needlessly-edf-like"};
  Timeline result{about};
  result.take(on_core(0, 0, EventType::release, 1));
  result.close();
  EXPECT_FALSE(result.jobs.at(0).by_deadline);
}

TEST(Timeline, CountsJobsThatEndBelowARunningOne) {
  using enum EventType;
  const Timeline result = timeline({on_core(0, 0, start, 1), on_core(0, 10, start, 2),
                                    on_core(0, 20, end, 1), on_core(0, 30, end, 2)});
  EXPECT_EQ(result.not_nested(), 1U);
}

}  // namespace
}  // namespace takt::trace
