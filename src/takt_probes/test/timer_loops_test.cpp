// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/timer_loops.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "recorded.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

/// A timer that fires as its script says; nothing in the script: it does not fire.
class ScriptedTimer : public Timer {
 public:
  struct Step {
    std::chrono::nanoseconds late{0};  // after its programmed expiry
    std::chrono::nanoseconds reported{0};
    std::uint64_t passed_over = 0;
  };

  explicit ScriptedTimer(std::deque<std::optional<Step>> script) : script_{std::move(script)} {}

  std::optional<os::TimePoint> start(std::chrono::nanoseconds given) noexcept override {
    if (broken) {
      return {};
    }
    ++starts;
    interval = given;
    due_ = origin + given;
    return origin;
  }

  std::optional<Expiry> wait(os::TimePoint deadline) noexcept override {
    deadlines.push_back(deadline);
    if (script_.empty()) {
      if (stop_at_end != nullptr) {
        stop_at_end->request();
      }
      return {};
    }
    const auto step = script_.front();
    script_.pop_front();
    if (!step) {
      due_ += interval;
      return {};
    }
    due_ += static_cast<std::int64_t>(step->passed_over) * interval;
    const Expiry expiry{
        .called = due_ + step->late, .reported = step->reported, .passed_over = step->passed_over};
    due_ += interval;
    return expiry;
  }

  void stop() noexcept override { ++stops; }
  std::optional<os::NotGranted> problem() const override {
    return broken ? std::optional{os::NotGranted{.what = "broken", .why = "w", .fix = "f"}}
                  : std::nullopt;
  }

  const os::TimePoint origin = os::now();
  std::chrono::nanoseconds interval{0};
  std::vector<os::TimePoint> deadlines;
  int starts = 0;
  int stops = 0;
  bool broken = false;
  os::StopFlag* stop_at_end = nullptr;

 private:
  std::deque<std::optional<Step>> script_;
  os::TimePoint due_{};
};

using Step = ScriptedTimer::Step;

class TimerLoopsTest : public testing::Test {
 protected:
  TimerLoopsTest() {
    options_.timeout = 3ms;
    options_.period = 2ms;
    options_.count = 4;
    options_.lost_after = 50ms;
  }

  template <class Body>
  Outcome recorded(const Body& body) {
    auto [outcome, samples] = run_recorded(options_, stop_, body);
    samples_ = std::move(samples);
    return outcome;
  }

  static std::int64_t measured(const Sample& sample) { return sample.received - sample.intended; }
  static std::int64_t reported(const Sample& sample) { return sample.sent - sample.intended; }

  Options options_;
  os::StopFlag stop_;
  std::vector<Sample> samples_;
};

TEST_F(TimerLoopsTest, oneshot_measures_from_the_programmed_expiry_and_keeps_the_report) {
  ScriptedTimer timer{{Step{10us, 7us}, Step{20us, 0us}, Step{-5us, -6us}, Step{0us, 1us}}};
  const Outcome outcome = recorded([&](const Bench& bench) { return timer_oneshot(bench, timer); });
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.sent, 4U);
  EXPECT_EQ(outcome.received, 4U);
  EXPECT_EQ(outcome.lost, 0U);
  EXPECT_EQ(timer.starts, 4);
  EXPECT_EQ(timer.interval, 3ms);
  ASSERT_EQ(samples_.size(), 4U);
  EXPECT_EQ(samples_[0].intended, (timer.origin + 3ms).time_since_epoch().count());
  EXPECT_EQ(measured(samples_[0]), 10'000);
  EXPECT_EQ(reported(samples_[0]), 7'000);
  EXPECT_EQ(measured(samples_[1]), 20'000);
  EXPECT_EQ(measured(samples_[2]), -5'000);
  EXPECT_EQ(reported(samples_[2]), -6'000);
}

TEST_F(TimerLoopsTest, oneshot_that_does_not_fire_within_its_bound_is_counted_and_stopped) {
  ScriptedTimer timer{{Step{}, std::nullopt, Step{}, Step{}}};
  const Outcome outcome = recorded([&](const Bench& bench) { return timer_oneshot(bench, timer); });
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.received, 3U);
  EXPECT_EQ(outcome.lost, 1U);
  EXPECT_EQ(timer.stops, 2);  // the one given up, and the end
  ASSERT_EQ(samples_.size(), 4U);
  EXPECT_EQ(samples_[1].sequence, 1U);
  EXPECT_EQ(samples_[1].received, 0);
  EXPECT_EQ(samples_[1].sent, samples_[1].intended);
  EXPECT_EQ(timer.deadlines[1], timer.origin + 3ms + 50ms);
}

TEST_F(TimerLoopsTest, cyclic_numbers_expiries_and_counts_from_one_start) {
  ScriptedTimer timer{{Step{10us}, Step{-3us}, Step{30us, 29us}, Step{}}};
  const Outcome outcome = recorded([&](const Bench& bench) { return timer_cyclic(bench, timer); });
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(timer.starts, 1);
  EXPECT_EQ(timer.stops, 1);
  ASSERT_EQ(samples_.size(), 4U);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(samples_[k].sequence, k);
    EXPECT_EQ(samples_[k].intended,
              (timer.origin + static_cast<std::int64_t>(k + 1) * 2ms).time_since_epoch().count());
  }
  EXPECT_EQ(measured(samples_[1]), -3'000);
  EXPECT_EQ(reported(samples_[2]), 29'000);
  EXPECT_EQ(outcome.overruns, 0U);
}

TEST_F(TimerLoopsTest, cyclic_keeps_the_numbers_behind_expiries_that_were_passed_over) {
  ScriptedTimer timer{{Step{}, Step{.late = 1us, .passed_over = 2}}};
  const Outcome outcome = recorded([&](const Bench& bench) { return timer_cyclic(bench, timer); });
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.sent, 4U);
  EXPECT_EQ(outcome.received, 2U);
  EXPECT_EQ(outcome.lost, 2U);
  ASSERT_EQ(samples_.size(), 4U);
  EXPECT_EQ(samples_[1].received, 0);
  EXPECT_EQ(samples_[2].received, 0);
  EXPECT_EQ(samples_[3].sequence, 3U);
  EXPECT_EQ(measured(samples_[3]), 1'000);
}

TEST_F(TimerLoopsTest, cyclic_that_jumps_past_the_end_records_no_more_than_was_asked) {
  ScriptedTimer timer{{Step{}, Step{.passed_over = 1'000'000'000'000}}};
  const Outcome outcome = recorded([&](const Bench& bench) { return timer_cyclic(bench, timer); });
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.sent, 4U);
  EXPECT_EQ(outcome.received, 1U);
  EXPECT_EQ(outcome.lost, 3U);
  EXPECT_EQ(samples_.size(), 4U);
}

TEST_F(TimerLoopsTest, cyclic_counts_callbacks_that_come_a_period_late) {
  ScriptedTimer timer{{Step{2ms - 1ns}, Step{2ms}, Step{5ms}, Step{}}};
  const Outcome outcome = recorded([&](const Bench& bench) { return timer_cyclic(bench, timer); });
  EXPECT_EQ(outcome.overruns, 2U);
}

TEST_F(TimerLoopsTest, cyclic_gives_a_missing_callback_up_at_its_bound) {
  ScriptedTimer timer{{Step{}, std::nullopt, Step{}, Step{}}};
  const Outcome outcome = recorded([&](const Bench& bench) { return timer_cyclic(bench, timer); });
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.lost, 1U);
  EXPECT_EQ(samples_[1].received, 0);
  EXPECT_EQ(timer.deadlines[0], timer.origin + 2ms + 50ms);
}

TEST_F(TimerLoopsTest, a_stop_leaves_the_sample_under_way_undecided) {
  for (auto* loop : {timer_oneshot, timer_cyclic}) {
    os::StopFlag stop;
    ScriptedTimer timer{{Step{}, Step{}}};
    timer.stop_at_end = &stop;
    const Outcome outcome = loop(Bench{options_, stop, nullptr}, timer);
    EXPECT_FALSE(outcome.finished);
    EXPECT_EQ(outcome.sent, 2U);
    EXPECT_EQ(outcome.lost, 0U);
    EXPECT_EQ(timer.stops, 1);
  }
}

TEST_F(TimerLoopsTest, a_timer_that_cannot_start_ends_the_loop_with_its_reason) {
  for (auto* loop : {timer_oneshot, timer_cyclic}) {
    ScriptedTimer timer{{}};
    timer.broken = true;
    const Outcome outcome = loop(Bench{options_, stop_, nullptr}, timer);
    EXPECT_FALSE(outcome.finished);
    EXPECT_EQ(outcome.sent, 0U);
    ASSERT_TRUE(outcome.problem);
    EXPECT_EQ(outcome.problem->what, "broken");
  }
}

TEST_F(TimerLoopsTest, the_start_delay_passes_before_the_first_start) {
  options_.start_delay = 30ms;
  const auto before = os::now();
  ScriptedTimer timer{{Step{}, Step{}, Step{}, Step{}}};
  const Outcome outcome = recorded([&](const Bench& bench) { return timer_oneshot(bench, timer); });
  EXPECT_GE(outcome.started - before, 30ms);
}

TEST_F(TimerLoopsTest, a_busy_real_time_loop_rests_between_samples_and_an_idle_one_does_not) {
  // Seven times 100 ms without sleeping, as the loop sees it.
  class Spinning : public ScriptedTimer {
   public:
    using ScriptedTimer::ScriptedTimer;
    std::optional<Expiry> wait(os::TimePoint deadline) noexcept override {
      const auto until = os::now() + 100ms;
      while (os::now() < until) {
      }
      return ScriptedTimer::wait(deadline);
    }
  };
  options_.count = 7;
  options_.policy = os::SchedulingPolicy::fifo;  // asked for only
  for (const Wait wait : {Wait::idle, Wait::busy}) {
    options_.wait = wait;
    Spinning timer{std::deque<std::optional<Step>>(7, Step{})};
    const Outcome outcome = timer_oneshot(Bench{options_, stop_, nullptr}, timer);
    EXPECT_EQ(outcome.rests > 0, wait == Wait::busy);
    EXPECT_EQ(outcome.received, 7U);
  }
}

}  // namespace
}  // namespace takt::probe
