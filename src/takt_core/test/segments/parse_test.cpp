// SPDX-License-Identifier: Apache-2.0
//
// What an application may say of its segments, and what it is told otherwise.
#include "takt/application/parse.hpp"

#include <gtest/gtest.h>

#include "documents.hpp"

namespace takt::application {
namespace {

using analysis::document;
using analysis::segmented;
using std::chrono::nanoseconds;

// How the refusal reads; "" if there is none.
std::string refusal(const std::string& json) {
  try {
    static_cast<void>(parse(json));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SegmentFaults, segments_are_read) {
  const Application app =
      parse(document(segmented("a", 100, 1, {{1, 2}, {0, 5}, {3, 3}, {4, 4}, {1, 1}})));
  const Callback& callback = app.callbacks.front();
  ASSERT_EQ(callback.segments.size(), 5U);
  EXPECT_EQ(callback.segments[1].shortest, nanoseconds{0});
  EXPECT_EQ(callback.segments[1].longest, nanoseconds{5});
  EXPECT_EQ(callback.execution.worst, nanoseconds{6});
  EXPECT_EQ(callback.suspension, nanoseconds{9});
  EXPECT_EQ(callback.suspensions, 2);
}

TEST(SegmentFaults, what_is_wrong_is_named) {
  const auto expect = [](const std::string& json, const std::string& words) {
    EXPECT_NE(refusal(json).find(words), std::string::npos) << words << " in " << refusal(json);
  };
  const auto with = [](const std::string& more) {
    return document(
        R"({"name":"a","period":9,"execution":{"worst":2},"suspension":3,"suspensions":1,)" + more +
        "}");
  };
  EXPECT_EQ(refusal(with(R"("segments":[{"longest":1},{"longest":3},{"longest":1}])")), "");
  expect(with(R"("segments":[{"longest":2}])"), "/callbacks/0/segments: does not compute, wait");
  expect(with(R"("segments":[{"longest":2},{"longest":3}])"), "does not compute, wait");
  expect(with(R"("segments":[{"longest":2},{"longest":3},{"longest":1}])"),
         "has other times of computing than execution");
  expect(with(R"("segments":[{"longest":1},{"longest":2},{"longest":1}])"),
         "has other waits than suspension");
  expect(with(R"("segments":[{"longest":1},{"shortest":4,"longest":3},{"longest":1}])"),
         "/callbacks/0/segments/1/shortest: is not between 0 and longest");
  expect(with(R"("segments":[{"longest":0},{"longest":3},{"longest":1}])"),
         "/callbacks/0/segments/0/longest: is not a time above 0");
  expect(with(R"("segments":[{}])"), "/callbacks/0/segments/0/longest: is missing");
}

TEST(SegmentFaults, no_scenario_says_anew_how_long_they_compute) {
  const std::string text = refusal(
      document(segmented("a", 100, 1, {{1, 1}, {1, 1}, {1, 1}}),
               R"(,"scenarios":[{"name":"s","tasks":[{"task":"a","expected_execution":1}]}])"));
  EXPECT_NE(text.find("task 'a': its segments say how long it computes, and scenario 's'"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace takt::application
