// SPDX-License-Identifier: Apache-2.0
//
// Releases without threads: no drift, none lost, none twice, and the overrun policies against a
// model that follows every single release.
#include "takt/sched/releases.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

namespace takt::sched {
namespace {

using namespace std::chrono_literals;

TimePoint at(std::chrono::nanoseconds time) {
  return TimePoint{time};
}

TaskParameters every(std::chrono::nanoseconds period, Overrun overrun = Overrun::skip) {
  TaskParameters parameters;
  parameters.period = period;
  parameters.overrun = overrun;
  return parameters;
}

TEST(TimerReleases, DoNotDriftOverAMillionPeriods) {
  TimerReleases timer;
  auto parameters = every(333'333ns);
  parameters.offset = 17ns;
  timer.follow(parameters, at(5s));
  for (std::uint64_t k = 0; k < 1'000'000; ++k) {
    const auto next = timer.next();
    ASSERT_TRUE(next);
    ASSERT_EQ(next->index, k);
    ASSERT_EQ(next->time, at(5s + 17ns + k * 333'333ns));
    timer.take();
    // Always late, but never too late for the next one.
    ASSERT_EQ(timer.end_of_job(next->time + 300'000ns).count, 0U);
  }
}

// What the overrun policies mean, release by release.
class Model {
 public:
  Model(Overrun overrun, std::chrono::nanoseconds period) : overrun_(overrun), period_(period) {}

  // The job of the oldest open release runs until `ended`.
  Release run_until(TimePoint ended) {
    if (open_.empty()) {
      open_.push_back({next_, time_of(next_)});
      ++next_;
    }
    const Release job = open_.front();
    for (; time_of(next_) < ended; ++next_) {
      const bool keep =
          overrun_ == Overrun::catch_up || (overrun_ == Overrun::queue_one && open_.size() < 2);
      if (keep) {
        open_.push_back({next_, time_of(next_)});
      } else {
        skipped_.push_back(next_);
      }
    }
    open_.pop_front();
    return job;
  }
  const std::vector<std::uint64_t>& skipped() const { return skipped_; }

 private:
  TimePoint time_of(std::uint64_t index) const { return at(index * period_); }

  Overrun overrun_;
  std::chrono::nanoseconds period_;
  std::uint64_t next_ = 0;
  std::deque<Release> open_;
  std::vector<std::uint64_t> skipped_;
};

class Overruns : public ::testing::TestWithParam<Overrun> {};

TEST_P(Overruns, AreThoseOfTheModel) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random{seed};
    const auto period = std::chrono::nanoseconds{1 + random() % 100};
    TimerReleases timer;
    timer.follow(every(period, GetParam()), at(0ns));
    Model model{GetParam(), period};
    std::vector<std::uint64_t> skipped;
    TimePoint time = at(0ns);
    for (int job = 0; job < 100; ++job) {
      const auto next = timer.next();
      ASSERT_TRUE(next);
      time = std::max(time, next->time) + std::chrono::nanoseconds{random() % 5};
      timer.take();
      time += random() % 3 == 0 ? static_cast<int>(random() % 7) * period
                                : std::chrono::nanoseconds{random() % 90};
      ASSERT_EQ(model.run_until(time), *next) << "seed " << seed;
      const Skipped dropped = timer.end_of_job(time);
      for (std::uint64_t i = 0; i < dropped.count; ++i) {
        skipped.push_back(dropped.first.index + i);
      }
      if (dropped.count > 0) {
        ASSERT_EQ(dropped.first.time, at(dropped.first.index * period));
      }
      ASSERT_EQ(skipped, model.skipped()) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Overruns,
                         ::testing::Values(Overrun::skip, Overrun::queue_one, Overrun::catch_up));

TEST(TimerReleases, SkipManyPeriodsAtOnceWithoutCountingThemOneByOne) {
  TimerReleases timer;
  timer.follow(every(1ns), at(0ns));
  timer.take();
  const Skipped skipped = timer.end_of_job(at(1'000'000h));
  EXPECT_EQ(skipped.first.index, 1U);
  EXPECT_EQ(skipped.count,
            static_cast<std::uint64_t>(std::chrono::nanoseconds{1'000'000h}.count()) - 1);
  EXPECT_EQ(timer.next()->time, at(1'000'000h));
}

TEST(TimerReleases, KeepTheirGridUnlessThePeriodChanges) {
  TimerReleases timer;
  timer.follow(every(10ms), at(0ms));
  timer.take();
  timer.end_of_job(at(1ms));
  timer.follow(every(10ms, Overrun::catch_up), at(4ms));
  EXPECT_EQ(timer.next()->time, at(10ms));
  timer.follow(every(5ms), at(4ms));  // a new period behind the last release
  EXPECT_EQ(timer.next()->time, at(5ms));
  EXPECT_EQ(timer.next()->index, 1U);
  timer.follow(every(2ms), at(4ms));  // that would be in the past: now
  EXPECT_EQ(timer.next()->time, at(4ms));
  timer.take();
  EXPECT_EQ(timer.next()->time, at(6ms));
}

TEST(TimerReleases, StopWhileInactiveAndStartAnewAfterwards) {
  TimerReleases timer;
  auto parameters = every(10ms);
  timer.follow(parameters, at(0ms));
  timer.take();
  timer.end_of_job(at(1ms));
  parameters.active = false;
  timer.follow(parameters, at(2ms));
  EXPECT_FALSE(timer.next());
  EXPECT_FALSE(timer.next_after(at(2ms)));
  parameters.active = true;
  parameters.offset = 3ms;
  timer.follow(parameters, at(100ms));
  EXPECT_EQ(timer.next()->time, at(103ms));
  EXPECT_EQ(timer.next()->index, 1U);
}

// A front end's timer: its phase is not the executor's to choose.
TEST(TimerReleases, OfAGridThatWasSetGoOnWithItWhenTheyBecomeActive) {
  TimerReleases timer;
  auto parameters = every(10ms);
  parameters.offset = 3ms;
  parameters.active = false;
  timer.release_at(at(5ms));
  timer.follow(parameters, at(0ms));
  EXPECT_FALSE(timer.next());
  parameters.active = true;
  timer.follow(parameters, at(23ms));
  EXPECT_EQ(*timer.next(), (Release{.index = 0, .time = at(25ms)}));
  timer.take();
  EXPECT_EQ(timer.end_of_job(at(26ms)).count, 0U);
  parameters.active = false;
  timer.follow(parameters, at(31ms));
  EXPECT_FALSE(timer.next());
  timer.release_at(at(38ms));  // set while it rests
  parameters.active = true;
  timer.follow(parameters, at(48ms));  // a point of the grid: no later
  EXPECT_EQ(*timer.next(), (Release{.index = 1, .time = at(48ms)}));
  timer.follow(parameters, at(53ms));
  EXPECT_EQ(timer.next()->time, at(48ms)) << "it was active, and is due";
  parameters.active = false;
  timer.follow(parameters, at(54ms));
  parameters.active = true;
  parameters.period = 4ms;
  timer.follow(parameters, at(57ms));
  EXPECT_EQ(*timer.next(), (Release{.index = 1, .time = at(60ms)}));
}

TEST(TimerReleases, ThatAreDueAtTheStartAreReleasedThen) {
  TimerReleases timer;
  timer.release_at(at(5ms));
  timer.follow(every(10ms), at(23ms));
  EXPECT_EQ(*timer.next(), (Release{.index = 0, .time = at(5ms)}));
}

TEST(TimerReleases, AreForgottenWhileInactiveEvenWhenRemembered) {
  TimerReleases timer;
  auto parameters = every(10ms, Overrun::queue_one);
  timer.follow(parameters, at(0ms));
  timer.take();
  EXPECT_EQ(timer.end_of_job(at(12ms)).count, 0U);  // remembers the one at 10 ms
  parameters.active = false;
  const Skipped forgotten = timer.follow(parameters, at(12ms));
  EXPECT_EQ(forgotten.count, 1U);
  EXPECT_EQ(forgotten.first, (Release{.index = 1, .time = at(10ms)}));
  EXPECT_FALSE(timer.next());
  EXPECT_EQ(timer.follow(parameters, at(13ms)).count, 0U);
}

TEST(TimerReleases, GoOnFromAnEarlyRelease) {
  TimerReleases timer;
  timer.follow(every(10ms), at(0ms));
  timer.take();
  timer.end_of_job(at(1ms));
  timer.advance_to(at(7ms));
  EXPECT_EQ(*timer.next(), (Release{.index = 1, .time = at(7ms)}));
  timer.take();
  EXPECT_EQ(*timer.next(), (Release{.index = 2, .time = at(17ms)}));
  EXPECT_EQ(*timer.next_after(at(17ms)), (Release{.index = 3, .time = at(27ms)}));
}

// One release is brought forward, not one more made.
TEST(TimerReleases, GoOnFromAnEarlyReleaseInPlaceOfARememberedOne) {
  TimerReleases timer;
  timer.follow(every(10ms, Overrun::queue_one), at(0ms));
  timer.take();
  EXPECT_EQ(timer.end_of_job(at(12ms)).count, 0U);  // remembers the one at 10 ms
  timer.advance_to(at(7ms));
  EXPECT_EQ(*timer.next(), (Release{.index = 1, .time = at(7ms)}));
  timer.take();
  EXPECT_EQ(*timer.next(), (Release{.index = 2, .time = at(17ms)}));
  timer.take();
  EXPECT_EQ(*timer.next(), (Release{.index = 3, .time = at(27ms)}));
}

TEST(MessageReleases, RunInTheOrderOfTheirArrival) {
  MessageReleases messages{8};
  messages.follow(every(0ns, Overrun::catch_up));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(messages.arrive(at(i * 1ms)));
  }
  for (std::uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(*messages.next(), (Release{.index = i, .time = at(i * 1ms)}));
    messages.take();
    EXPECT_EQ(messages.end_of_job(at(1s)).count, 0U);
  }
  EXPECT_FALSE(messages.next());
}

TEST(MessageReleases, FollowTheOverrunPolicy) {
  for (const auto& [overrun, left] : {std::pair{Overrun::skip, 0}, std::pair{Overrun::queue_one, 1},
                                      std::pair{Overrun::catch_up, 3}}) {
    MessageReleases messages{8};
    messages.follow(every(0ns, overrun));
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(messages.arrive(at(i * 1ms)));
    }
    messages.take();
    EXPECT_EQ(messages.end_of_job(at(10ms)).count, static_cast<std::uint64_t>(3 - left));
    ASSERT_TRUE(messages.arrive(at(11ms)));
    int jobs = 0;
    for (; messages.next(); ++jobs) {
      messages.take();
      messages.end_of_job(at(11ms));
    }
    EXPECT_EQ(jobs, left + 1);
  }
}

TEST(MessageReleases, RefuseWhatDoesNotFit) {
  MessageReleases messages{4};
  messages.follow(every(0ns));
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(messages.arrive(at(1ms)));
  }
  EXPECT_FALSE(messages.arrive(at(1ms)));
}

TEST(MessageReleases, AreForgottenWhileInactiveEvenWhenRemembered) {
  MessageReleases messages{4};
  auto parameters = every(0ns, Overrun::queue_one);
  messages.follow(parameters);
  ASSERT_TRUE(messages.arrive(at(1ms)));
  ASSERT_TRUE(messages.arrive(at(2ms)));
  messages.take();
  EXPECT_EQ(messages.end_of_job(at(3ms)).count, 0U);  // remembers the second one
  parameters.active = false;
  EXPECT_EQ(messages.follow(parameters).count, 1U);
  EXPECT_FALSE(messages.next());
}

TEST(MessageReleases, OfAnInactiveTaskAreDropped) {
  MessageReleases messages{4};
  auto parameters = every(0ns);
  parameters.active = false;
  messages.follow(parameters);
  ASSERT_TRUE(messages.arrive(at(1ms)));
  EXPECT_FALSE(messages.next());
  EXPECT_EQ(messages.drop_if_inactive().count, 1U);
  parameters.active = true;
  messages.follow(parameters);
  EXPECT_FALSE(messages.next());
}

}  // namespace
}  // namespace takt::sched
