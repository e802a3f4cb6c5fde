// SPDX-License-Identifier: Apache-2.0
//
// Changes of the tasks while they run: batches, pauses, timers that are set, starts after stops.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../policies.hpp"
#include "support.hpp"
#include "takt/sched/error.hpp"

namespace takt::test {
namespace {

using executor::Changes;

class Change : public UnderPolicy {};

INSTANTIATE_TEST_SUITE_P(Policies, Change, ::testing::Values("fp", "edf", "np-fp"), policy_name);

TEST_P(Change, OfSeveralTasksTakesEffectAsAWholeOrNotAtAll) {
  std::atomic<int> runs{0};
  const auto count = [&](const auto&) { ++runs; };
  Executor executor{options()};
  executor.add(timer("old", 1ms, 10), {count});
  executor.start();
  Changes refused;
  refused.remove("old").add(timer("good", 1ms, 10), {count}).add(timer("bad", 0ms, 10), {count});
  EXPECT_THROW(executor.apply(std::move(refused)), sched::ScheduleError);
  EXPECT_TRUE(executor.find("old"));
  EXPECT_FALSE(executor.find("good"));
  const int before = runs;
  EXPECT_TRUE(eventually([&] { return runs > before + 3; }));

  Changes accepted;
  accepted.remove("old").add(timer("one", 1ms, 10), {}).add(timer("two", 1ms, 10), {count});
  EXPECT_THROW(executor.apply(std::move(accepted)), sched::ScheduleError) << "one does nothing";
  Changes whole;
  whole.remove("old").add(timer("one", 1ms, 10), {count}).add(timer("two", 1ms, 10), {count});
  const auto applied = executor.apply(std::move(whole));
  ASSERT_EQ(applied.added.size(), 2U);
  expect_to_return("wait()", [&] { applied.change.wait(); });
  EXPECT_TRUE(applied.change.done());
  EXPECT_FALSE(executor.find("old"));
  EXPECT_TRUE(eventually([&] {
    return executor.statistics(applied.added[0].index).completed > 2 &&
           executor.statistics(applied.added[1].index).completed > 2;
  }));
  executor.stop();
}

// As a timer or a node that is made anew.
TEST_P(Change, ANameThatGoesMayComeInTheSameChange) {
  std::atomic<int> former{0};
  std::atomic<int> runs{0};
  Executor executor{options()};
  executor.add(timer("task", 1ms, 10), {[&](const auto&) { ++former; }});
  const auto renew = [&](std::atomic<int>& count) {
    Changes changes;
    changes.remove("task").add(timer("task", 1ms, 10), {[&](const auto&) { ++count; }});
    return executor.apply(std::move(changes));
  };
  renew(former);  // before anything runs
  executor.start();
  EXPECT_TRUE(eventually([&] { return former > 3; }));
  const auto applied = renew(runs);
  expect_to_return("wait()", [&] { applied.change.wait(); });
  EXPECT_EQ(executor.find("task"), applied.added.front().index);
  const int before = former;
  EXPECT_TRUE(eventually([&] { return runs > 3; }));
  EXPECT_EQ(former, before);

  Changes second;
  second.add(timer("task", 1ms, 10), {[](const auto&) {}}).remove("task");
  EXPECT_THROW(executor.apply(std::move(second)), sched::ScheduleError) << "in their order";
  executor.stop();
  renew(former);
  executor.start();
  EXPECT_TRUE(eventually([&] { return former > before + 3; }));
  executor.stop();
}

TEST_P(Change, APausedTaskHasNoReleasesUntilItIsResumed) {
  std::atomic<int> runs{0};
  Executor executor{options()};
  executor.add(timer("task", 1ms, 10), {[&](const auto&) { ++runs; }});
  executor.add(timer("clock", 1ms, 20), {[](const auto&) {}});
  executor.start();
  ASSERT_TRUE(eventually([&] { return runs > 2; }));
  executor.pause("task").wait();
  const int paused = runs;
  const auto ticks = [&] { return executor.statistics(1).completed; };
  const std::uint64_t ticked = ticks();
  ASSERT_TRUE(eventually([&] { return ticks() > ticked + 5; }));
  EXPECT_LE(runs, paused + 1) << "more than what was released already";
  executor.resume("task").wait();
  EXPECT_TRUE(eventually([&] { return runs > paused + 3; }));
  executor.stop();
  EXPECT_THROW(executor.pause("nobody"), sched::ScheduleError);
}

TEST_P(Change, ATimerIsSetAndClearedFromAnyThread) {
  std::vector<os::TimePoint> releases;
  std::atomic<std::size_t> runs{0};
  Executor executor{options()};
  sched::Task set = timer("task", 1h, 10);
  set.parameters.overrun = sched::Overrun::queue_one;  // due before the job before it has ended
  const auto added = executor.add(set, {.callback =
                                            [&](const sched::Job& job) {
                                              releases.push_back(job.release);
                                              ++runs;
                                            },
                                        .first_release = os::TimePoint::max()});
  executor.add(timer("clock", 1ms, 20), {[](const auto&) {}});
  executor.start();
  const auto ticks = [&] { return executor.statistics(1).completed; };
  ASSERT_TRUE(eventually([&] { return ticks() > 5; }));
  EXPECT_EQ(runs, 0U) << "it was not armed";
  std::vector<os::TimePoint> expected;
  for (int i = 0; i < 20; ++i) {
    expected.push_back(os::now() + 100us);
    std::thread{[&] { EXPECT_TRUE(added.release.release_at(expected.back())); }}.join();
    ASSERT_TRUE(eventually([&] { return runs == expected.size(); }));
  }
  EXPECT_TRUE(added.release.release_at(os::now() + 50ms));
  EXPECT_TRUE(added.release.disarm());
  const std::uint64_t ticked = ticks();
  ASSERT_TRUE(eventually([&] { return ticks() > ticked + 80; }));
  executor.stop();
  ASSERT_EQ(releases.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_GE(releases[i], expected[i]);  // later where the thread was too late to say so
  }
}

TEST_P(Change, ATimerThatIsDueAlreadyIsReleasedNowAndKeepsItsPhase) {
  constexpr auto period = 2ms;
  std::vector<os::TimePoint> releases;
  std::atomic<std::size_t> runs{0};
  Executor executor{options()};
  const auto added =
      executor.add(timer("task", period, 10), {.callback =
                                                   [&](const sched::Job& job) {
                                                     releases.push_back(job.release);
                                                     ++runs;
                                                   },
                                               .first_release = os::TimePoint::max()});
  executor.start();
  const os::TimePoint called = os::now();
  const os::TimePoint due = called - 135ms;
  EXPECT_TRUE(added.release.release_at(due));
  ASSERT_TRUE(eventually([&] { return runs > 3; }));
  executor.stop();
  EXPECT_GE(releases.front(), called);
  for (std::size_t i = 1; i < releases.size(); ++i) {
    EXPECT_EQ((releases[i] - due) % period, 0ns);
    EXPECT_GT(releases[i], releases[i - 1]);
  }
}

TEST_P(Change, ArrivalsComeInNumbersAndWithAValue) {
  std::vector<std::int64_t> values;
  std::atomic<std::size_t> runs{0};
  Executor executor{options()};
  sched::Task task = message("task", "outside", 10);
  task.parameters.overrun = sched::Overrun::catch_up;
  const auto added = executor.add(task, {.callback =
                                             [&](const sched::Job& job) {
                                               values.push_back(job.value);
                                               ++runs;
                                             },
                                         .queue = 4});
  EXPECT_TRUE(added.release.notify(3, 7));
  EXPECT_FALSE(added.release.notify(3, 8)) << "there is room for one of them";
  executor.start();
  ASSERT_TRUE(eventually([&] { return runs == 4; }));
  EXPECT_TRUE(added.release.notify(1, -9));
  ASSERT_TRUE(eventually([&] { return runs == 5; }));
  executor.stop();
  EXPECT_EQ(values, (std::vector<std::int64_t>{7, 7, 7, 8, -9}));
  EXPECT_EQ(executor.statistics(added.index).lost_arrivals, 2U);
}

TEST_P(Change, AHandleOfATaskThatHasGoneReachesNobody) {
  std::atomic<int> runs{0};
  Executor executor{options()};
  executor.start();
  const auto former = executor.add(message("task", "outside", 10), {[](const auto&) {}});
  executor.remove("task").wait();
  executor.add(message("next", "outside", 10), {[&](const auto&) { ++runs; }}).change.wait();
  EXPECT_FALSE(former.release.notify());
  EXPECT_FALSE(former.release.release_at(os::now()));
  executor.stop();
  EXPECT_EQ(runs, 0);
}

TEST_P(Change, AnExecutorStartsAgainAfterAStop) {
  const TemporaryFile file;
  Options settings = options();
  settings.trace = file.path();
  std::atomic<int> runs{0};
  std::atomic<int> messages{0};
  Executor executor{settings};
  executor.add(timer("task", 1ms, 10), {[&](const auto&) { ++runs; }});
  const auto receiver =
      executor.add(message("receiver", "outside", 20), {[&](const auto&) { ++messages; }});
  for (int round = 1; round <= 3; ++round) {
    const int before = runs;
    executor.start();
    EXPECT_THROW(executor.start(), std::logic_error);
    receiver.release.notify();
    EXPECT_TRUE(eventually([&] { return runs > before + 3 && messages == round; })) << round;
    executor.stop();
    const int stopped = runs;
    executor.add(timer("guest" + std::to_string(round), 1ms, 30), {[](const auto&) {}});
    EXPECT_EQ(runs, stopped);
  }
  EXPECT_EQ(executor.statistics(0).completed, static_cast<std::uint64_t>(runs));
  std::filesystem::path second = file.path();
  second.replace_filename(file.path().stem().string() + "-2" + file.path().extension().string());
  EXPECT_GT(trace::read_trace(second).events.size(), 3U) << "each start has a trace of its own";
  std::filesystem::remove(second);
  second.replace_filename(file.path().stem().string() + "-3" + file.path().extension().string());
  std::filesystem::remove(second);
}

TEST_P(Change, AnExceptionLeavesSpinWhereThatIsAskedFor) {
  Options settings = options();
  settings.exceptions = executor::Exceptions::leave_spin;
  std::atomic<int> runs{0};
  Executor executor{settings};
  executor.add(timer("task", 1ms, 10), {[&](const auto&) {
                 if (++runs == 3) {
                   throw std::runtime_error{"the sensor is gone"};
                 }
               }});
  try {
    executor.spin();
    FAIL() << "spin() returned";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the sensor is gone");
  }
  executor.start();
  EXPECT_TRUE(eventually([&] { return runs > 5; }));
  executor.stop();
}

// A source of jobs as a front end has it: armed while its task is among the executor's tasks.
class Source : public executor::JobSource {
 public:
  [[nodiscard]] sched::Task describe() const override { return message("source", "outside", 10); }
  executor::Outcome run(const sched::Job& job) override {
    ran += job.value;
    return {};
  }
  void arm(const executor::ReleaseHandle& release) override {
    ++armed;
    if (refuses) {
      throw std::runtime_error{"the middleware does not listen"};
    }
    release.notify(1, 1);  // something waited
  }
  void disarm() noexcept override { ++disarmed; }

  bool refuses = false;
  std::atomic<std::int64_t> ran{0};
  std::atomic<int> armed{0};
  std::atomic<int> disarmed{0};
};

TEST_P(Change, ASourceOfJobsIsArmedAsLongAsItsTaskIsThere) {
  Executor executor{options()};
  const auto early = std::make_shared<Source>();
  executor.add(early->describe(), {.source = early});
  EXPECT_EQ(early->armed, 0);
  executor.start();
  EXPECT_EQ(early->armed, 1);
  ASSERT_TRUE(eventually([&] { return early->ran == 1; })) << "what waited was not released";
  executor.remove("source").wait();
  EXPECT_EQ(early->disarmed, 1);
  EXPECT_EQ(early.use_count(), 1);

  const auto refusing = std::make_shared<Source>();
  refusing->refuses = true;
  EXPECT_THROW(executor.add(refusing->describe(), {.source = refusing}), std::runtime_error);
  EXPECT_FALSE(executor.find("source"));
  EXPECT_EQ(refusing.use_count(), 1);

  const auto late = std::make_shared<Source>();
  executor.add(late->describe(), {.source = late});
  ASSERT_TRUE(eventually([&] { return late->ran == 1; }));
  executor.stop();
  EXPECT_EQ(late->disarmed, 1);
  executor.start();
  EXPECT_EQ(late->armed, 2);
  executor.stop();
}

}  // namespace
}  // namespace takt::test
