// SPDX-License-Identifier: Apache-2.0
//
// How old data is that a join publishes, by hand.
#include <gtest/gtest.h>

#include "../analysis/documents.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

std::string at(const std::string& offset) {
  return ", 'offset': " + offset + ", 'deadline': 200, 'cpu': 0";
}

// What `watch` reads, on a core of its own, is as old as `slow`'s message or older: that one comes
// after all others on their core.
application::Application fusion(const std::string& read, const std::string& max_age) {
  const std::string joined = ", 'node': 'n', 'join': 'both', 'writes': ['fused'], 'cpu': 0";
  return parsed(
      app(timer("slow", 20, 1, 1, at("0") + ", 'writes': ['a']") + ", " +
              timer("rare", 34, 1, 5, at("33") + ", 'writes': ['b']") + ", " +
              timer("heavy", 48, 15, 9, at("20")) + ", " +
              message("n.a", "a", 1, 4, joined + ", 'deadline': 200") + ", " +
              message("n.b", "b", 1, 4, joined + ", 'deadline': 200") + ", " +
              message("behind", "fused", 0, 3, ", 'writes': ['end'], 'cpu': 0, 'deadline': 200") +
              ", " +
              timer("watch", 83, 1, 1,
                    ", 'offset': 83, 'cpu': 1, 'reads': [{'topic': '" + read +
                        "', 'max_age': " + max_age + "}]"),
          ", 'cpus': [0, 1], 'topics': [{'name': 'a', 'depth': 9}, {'name': 'b', 'depth': 9}, "
          "{'name': 'fused', 'depth': 9}, {'name': 'end', 'depth': 9}]"));
}

AgeReport age_of(const application::Application& application) {
  return analyse(application).scenarios.front().ages.front();
}

nanoseconds oldest(const application::Application& application) {
  return sim::simulate(application, {.duration = nanoseconds{2000}})
      .callbacks.back()
      .sample_age.max;
}

// The core is busy for 20 at most. At 20 `heavy` comes, and at 33 `rare`, whose message completes a
// set with that of 0. Its next one comes at 67, and waits for `heavy`.
TEST(AgeBehindJoin, counts_a_busy_period_before_each_of_two_publications) {
  const application::Application app = fusion("fused", "200");
  const AgeReport age = age_of(app);
  ASSERT_TRUE(age.age) << age.bound_by;
  EXPECT_EQ(age.verdict, Verdict::meets);
  EXPECT_LE(*age.age, nanoseconds{20 + 20 + 34 + 20});
  EXPECT_GT(oldest(app), nanoseconds{20 + 20 + 34});
  EXPECT_LE(oldest(app), *age.age);
}

TEST(AgeBehindJoin, is_bounded_behind_its_reader) {
  const application::Application app = fusion("end", "200");
  const AgeReport age = age_of(app);
  ASSERT_TRUE(age.age) << age.bound_by;
  EXPECT_LE(oldest(app), *age.age);
}

// Nothing is released early: a message that comes sooner waits for the other callback.
TEST(AgeBehindJoin, is_watched_and_not_kept) {
  const application::Application app = fusion("fused", "50");
  const Report report = analyse(app);
  EXPECT_EQ(report.scenarios.front().deadlines, Verdict::meets);
  EXPECT_EQ(report.scenarios.front().ages.front().verdict, Verdict::not_proved);
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{2000}});
  EXPECT_EQ(run.callbacks.front().early_releases, 0U);
  EXPECT_GT(run.callbacks.back().age_violations, run.callbacks.back().without_data);
}

}  // namespace
}  // namespace takt::analysis
