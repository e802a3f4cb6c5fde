// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong is told when it does, not when the job ends that does it.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "support.hpp"

namespace takt::test {
namespace {

class LifeReported : public ::testing::TestWithParam<const char*> {
 protected:
  static Options options() {
    return {.policy = sched::parse_policy(GetParam()),
            .cpus = {os::current_thread().cpus.front()},
            .on_not_granted = [](const auto&) {}};
  }
};

INSTANTIATE_TEST_SUITE_P(Policies, LifeReported, ::testing::Values("fp", "edf"),
                         [](const auto& policy) { return std::string{policy.param}; });

// The callback hangs until somebody has told that it does.
TEST_P(LifeReported, ADeadlineThatPassesIsReportedWhileTheJobStillRuns) {
  std::atomic<int> reported{0};
  std::atomic<bool> reported_while_running{false};
  std::atomic<bool> running{false};
  Options with_handler = options();
  with_handler.handlers.deadline_miss = [&](const executor::Miss& miss) {
    EXPECT_EQ(miss.running, running.load());
    reported_while_running = reported_while_running || miss.running;
    ++reported;
  };
  Executor executor{with_handler};
  const auto added = executor.add(timer("hangs", 30s, 20, 5ms), {[&](const auto&) {
                                    running = true;
                                    static_cast<void>(eventually([&] { return reported > 0; }));
                                    running = false;
                                  }});
  run_until_each_completed(executor, 1);
  EXPECT_TRUE(reported_while_running);
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(executor.statistics(added.index).deadline_misses, 1U);
}

TEST_P(LifeReported, ABudgetThatIsUsedUpIsReportedWhileTheJobStillRuns) {
  std::atomic<int> reported{0};
  std::atomic<bool> reported_while_running{false};
  std::atomic<bool> running{false};
  Options with_handler = options();
  with_handler.handlers.budget_overrun = [&](const executor::BudgetOverrun& overrun) {
    EXPECT_EQ(overrun.running, running.load());
    reported_while_running = reported_while_running || overrun.running;
    ++reported;
  };
  Executor executor{with_handler};
  sched::Task task = timer("hangs", 30s, 20);
  task.parameters.budget = 2ms;
  const auto added = executor.add(task, {[&](const auto&) {
                                    running = true;
                                    // Uses the CPU, but leaves some of it to others.
                                    const auto give_up = os::now() + patience;
                                    while (reported == 0 && os::now() < give_up) {
                                      burn(1ms);
                                      os::sleep_until(os::now() + 1ms);
                                    }
                                    running = false;
                                  }});
  run_until_each_completed(executor, 1);
  EXPECT_TRUE(reported_while_running);
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(executor.statistics(added.index).budget_overruns, 1U);
}

// Both come at the same time: the deadline of the one that runs, and the job that would run over
// it.
TEST_P(LifeReported, AStopThatAHandlerAsksForKeepsWhatWasReleasedMeanwhileFromStarting) {
  if (const auto reason = no_real_time()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  std::atomic<bool> stopped{false};
  std::atomic<int> started_after{0};
  Options with_handler = options();
  Executor* to_stop = nullptr;
  with_handler.handlers.deadline_miss = [&](const executor::Miss& miss) {
    if (miss.running) {
      to_stop->request_stop();
      stopped = true;
    }
  };
  Executor executor{with_handler};
  to_stop = &executor;
  executor.add(timer("low", 30s, 10, 10ms), {[&](const auto&) {
                 static_cast<void>(eventually([&] { return stopped.load(); }));
               }});
  executor.add(timer("high", 30s, 50, 1s, 10ms),
               {[&](const auto&) { started_after += stopped ? 1 : 0; }});
  executor.start();
  EXPECT_TRUE(eventually([&] { return stopped.load(); }));
  executor.stop();
  EXPECT_EQ(started_after, 0);
}

}  // namespace
}  // namespace takt::test
