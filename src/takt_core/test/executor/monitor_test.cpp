// SPDX-License-Identifier: Apache-2.0
//
// Limits that are watched while the executor runs: what is counted, and what the handler gets.
#include "takt/executor/monitor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "../policies.hpp"
#include "monitor_support.hpp"
#include "takt/sched/error.hpp"

namespace takt::test {
namespace {

using executor::ChainLimits;
using executor::LimitExceeded;

class Monitor : public UnderPolicy {};

INSTANTIATE_TEST_SUITE_P(Policies, Monitor, ::testing::Values("fp", "edf", "np-edf"), policy_name);

// Nothing but what the handler is reported.
class Reported {
 public:
  [[nodiscard]] executor::Handlers handlers() {
    return {.limit_exceeded = [this](const LimitExceeded& exceeded) noexcept {
      const std::lock_guard lock{mutex_};
      all_.push_back(exceeded);
    }};
  }
  [[nodiscard]] std::vector<LimitExceeded> of(const std::string& subject, Quantity quantity) const {
    const std::lock_guard lock{mutex_};
    std::vector<LimitExceeded> found;
    std::ranges::copy_if(all_, std::back_inserter(found), [&](const LimitExceeded& one) {
      return one.subject == subject && one.quantity == quantity;
    });
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<LimitExceeded> all_;
};

TEST_P(Monitor, ReportsEachExcessOnceWithItsStampsAndNothingElse) {
  Reported reported;
  Robot robot{options()};
  robot.executor.set_limits(Robot::limits());
  robot.executor.set_handlers(reported.handlers());
  robot.run_until_arrived(50);
  for (const LimitStatistics& watched : robot.executor.limits()) {
    SCOPED_TRACE(watched.subject);
    const auto excesses = reported.of(watched.subject, watched.quantity);
    EXPECT_EQ(excesses.size(), watched.exceeded);
    for (const LimitExceeded& one : excesses) {
      EXPECT_GT(one.value, one.limit);
      EXPECT_EQ(one.value, one.ended - one.from);
      EXPECT_FALSE(one.allowed);
    }
  }
}

TEST_P(Monitor, IsSilentWhereEveryLimitHolds) {
  Reported reported;
  Robot robot{options()};
  robot.executor.set_limits(
      {.callbacks = {{.callback = "control", .response = 1h}},
       .chains = {{.chain = "whole", .callbacks = Robot::whole, .latency = 1h, .age = 1h}}});
  robot.executor.set_handlers(reported.handlers());
  robot.run_until_arrived(20);
  for (const LimitStatistics& watched : robot.executor.limits()) {
    EXPECT_GT(watched.checked, 0U) << watched.subject;
    EXPECT_EQ(watched.exceeded, 0U) << watched.subject;
    EXPECT_TRUE(watched.holds());
  }
  EXPECT_TRUE(reported.of("whole", Quantity::latency).empty());
  EXPECT_TRUE(reported.of("control", Quantity::response).empty());
}

TEST_P(Monitor, AShareAllowsForSomeOfThem) {
  Reported reported;
  Executor executor{options()};
  executor.set_limits({.callbacks = {{.callback = "task", .response = 5ms, .late = 0.3}}});
  executor.set_handlers(reported.handlers());
  std::atomic<std::uint64_t> jobs{0};
  // Every fourth job, the first one not among them.
  executor.add(timer("task", 20ms, 20), {[&](const sched::Job&) {
                 if (++jobs % 4 == 0) {
                   burn(6ms);
                 }
               }});
  run_until_each_completed(executor, 8);
  const LimitStatistics watched = executor.limits().front();
  EXPECT_GE(watched.exceeded, 2U);
  for (const LimitExceeded& one : reported.of("task", Quantity::response)) {
    EXPECT_EQ(one.allowed,
              static_cast<double>(one.exceeded) <= 0.3 * static_cast<double>(one.checked));
  }
}

TEST_P(Monitor, CountsSkippedReleasesAndDroppedMessagesAsTheCountersDo) {
  Reported reported;
  Executor executor{options()};
  executor.set_limits({.callbacks = {{.callback = "late", .skipped = 0.0},
                                     {.callback = "flooded", .dropped = 0.5}}});
  executor.set_handlers(reported.handlers());
  std::atomic<bool> slow{true};
  executor.add(timer("late", 1ms, 30), {[&](const sched::Job&) { burn(slow ? 3ms : 10us); }});
  const auto flooded =
      executor.add(message("flooded", "outside", 40), {.callback = [](const auto&) {}, .queue = 2});
  executor.start();
  flooded.release.notify(10);
  EXPECT_TRUE(eventually([&] {
    return executor.statistics(0).skipped > 5 && executor.statistics(flooded.index).completed >= 2;
  }));
  slow = false;  // the last ones are judged after the next job
  const std::uint64_t completed = executor.statistics(0).completed;
  EXPECT_TRUE(eventually([&] { return executor.statistics(0).completed > completed + 5; }));
  flooded.release.notify();
  EXPECT_TRUE(eventually([&] { return executor.statistics(flooded.index).completed >= 3; }));
  executor.stop();
  const auto watched = executor.limits();
  const auto find = [&](Quantity quantity) {
    return *std::ranges::find_if(watched,
                                 [&](const auto& one) { return one.quantity == quantity; });
  };
  EXPECT_EQ(find(Quantity::dropped).exceeded, executor.statistics(flooded.index).lost_arrivals);
  EXPECT_LE(find(Quantity::skipped).exceeded, executor.statistics(0).skipped);
  EXPECT_GT(find(Quantity::skipped).exceeded, 5U);
  EXPECT_FALSE(find(Quantity::skipped).holds());
  EXPECT_FALSE(reported.of("late", Quantity::skipped).empty());
  EXPECT_FALSE(reported.of("flooded", Quantity::dropped).empty());
}

TEST_P(Monitor, JudgesTheAgeOfDataAtTheStartOfTheJob) {
  Reported reported;
  Robot robot{options()};
  Limits limits = Robot::limits();
  limits.reads = {{.callback = "control", .topic = "clean", .age = 1ns}};
  robot.executor.set_limits(limits);
  robot.executor.set_handlers(reported.handlers());
  robot.run_until_arrived(20);
  const LimitStatistics watched = robot.watched("control", Quantity::age);
  EXPECT_GT(watched.checked, 0U);
  EXPECT_EQ(watched.exceeded, watched.checked);
  for (const LimitExceeded& one : reported.of("control", Quantity::age)) {
    EXPECT_EQ(one.topic, "clean");
    EXPECT_LT(one.value, one.ended - one.from);  // the job itself is no age
  }
}

// Messages that a front end knows by a key alone: each arrives once, strange keys never.
TEST_P(Monitor, FollowsMessagesByTheirKeys) {
  Executor executor{options()};
  std::atomic<std::int64_t> newest{-1};
  std::atomic<int> used{0};
  executor.add(timer("make", 2ms, 20), {[&](const auto&) {
                 executor::publish_message(newest + 1);
                 ++newest;
               }});
  executor.add(timer("use", 2ms, 10), {[&](const auto&) {
                 const std::int64_t key = newest;
                 executor::use_message(key);
                 executor::use_message(-7);
                 used += key >= 0 ? 1 : 0;
               }});
  executor.add(timer("other", 2ms, 5), {[&](const auto&) { executor::use_message(-7); }});
  executor.set_limits(
      {.chains = {{.chain = "known", .callbacks = {"make", "use"}, .latency = 1h, .age = 1h},
                  {.chain = "strange", .callbacks = {"make", "other"}, .latency = 1h}}});
  executor.start();
  EXPECT_TRUE(eventually([&] { return used >= 20; }));
  executor.stop();
  for (const LimitStatistics& watched : executor.limits()) {
    SCOPED_TRACE(watched.subject);
    if (watched.subject == "strange") {
      EXPECT_EQ(watched.checked, 0U);
    } else if (watched.quantity == Quantity::latency) {
      EXPECT_GE(watched.checked, 1U);
      EXPECT_LE(watched.checked, static_cast<std::uint64_t>(newest + 1));  // each once
    } else {
      EXPECT_EQ(watched.checked, static_cast<std::uint64_t>(used));
    }
    EXPECT_EQ(watched.exceeded, 0U);
  }
}

TEST(MonitorSetup, RefusesLimitsThatMeanNothing) {
  const auto refused = [](const Limits& limits) {
    Executor executor{{}};
    EXPECT_THROW(executor.set_limits(limits), sched::ScheduleError);
  };
  const ChainLimits chain{.chain = "c", .callbacks = {"a"}, .latency = 1ms};
  refused({.callbacks = {{.callback = "a"}, {.callback = "a"}}});
  refused({.callbacks = {{.callback = "a", .late = 1.5}}});
  refused({.callbacks = {{.callback = "a", .response = -1ns}}});
  refused({.callbacks = {{.callback = "a", .skipped = -0.1}}});
  refused({.reads = {{.callback = "a", .topic = "t"}}});
  refused({.chains = {chain, chain}});
  refused({.chains = {{.chain = "c", .latency = 1ms}}});
  refused({.chains = {{.chain = "c", .callbacks = {"a"}}}});
  refused({.chains = {{.chain = "c",
                       .callbacks = std::vector<std::string>(executor::most_places + 1, "a"),
                       .latency = 1ms}}});
}

TEST(MonitorSetup, ALimitOfNoTaskIsRefusedAtTheStartUnlessItMayComeLater) {
  Limits limits{.callbacks = {{.callback = "later"}}};
  Executor executor{{.on_not_granted = [](const auto&) {}}};
  executor.set_limits(limits);
  EXPECT_THROW(executor.start(), sched::ScheduleError);
  limits.allow_absent_tasks = true;
  executor.set_limits(limits);
  executor.start();
  EXPECT_THROW(executor.set_limits(limits), std::logic_error);
  executor.add(timer("later", 1ms, 20), {[](const sched::Job&) {}});
  EXPECT_TRUE(eventually([&] { return executor.limits().front().checked >= 3; }));
  executor.stop();
}

TEST(MonitorSetup, ATopicThatIsNotReadIsRefused) {
  Executor executor{{.on_not_granted = [](const auto&) {}}};
  executor.add(timer("task", 1ms, 20), {[](const sched::Job&) {}});
  executor.set_limits({.reads = {{.callback = "task", .topic = "nowhere", .age = 1ms}}});
  EXPECT_THROW(executor.start(), sched::ScheduleError);
}

}  // namespace
}  // namespace takt::test
