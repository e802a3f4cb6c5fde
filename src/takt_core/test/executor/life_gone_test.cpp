// SPDX-License-Identifier: Apache-2.0
//
// A handler that is told of a job by another thread may take longer than that job, and the task may
// be removed meanwhile: it has not gone before the handler has returned.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "support.hpp"

namespace takt::test {
namespace {

class LifeGone : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Policies, LifeGone, ::testing::Values("fp", "edf"),
                         [](const auto& policy) { return std::string{policy.param}; });

TEST_P(LifeGone, ATaskExistsUntilItsHandlerHasReturned) {
  std::atomic<bool> in_handler{false};
  std::atomic<bool> gone_meanwhile{false};
  std::atomic<bool> handled{false};
  executor::Change removal;
  std::atomic<bool> removal_known{false};
  Options options{.policy = sched::parse_policy(GetParam()),
                  .cpus = {os::current_thread().cpus.front()},
                  .real_time = false,
                  .on_not_granted = [](const auto&) {}};
  options.handlers.deadline_miss = [&](const executor::Miss& miss) {
    if (!miss.running || in_handler.exchange(true)) {
      return;
    }
    static_cast<void>(eventually([&] { return removal_known.load(); }));
    // Long enough for whoever gives a task back too early, and a loss of time for nobody else.
    const auto enough = os::now() + 500ms;
    while (!gone_meanwhile && os::now() < enough) {
      os::sleep_until(os::now() + 1ms);
      gone_meanwhile = removal.done();
    }
    handled = true;
  };
  Executor executor{options};
  const auto late = executor.add(timer("late", 30s, 20, 2ms), {.callback = [&](const auto&) {
                                   static_cast<void>(eventually([&] { return in_handler.load(); }));
                                 }});
  executor.start();
  ASSERT_TRUE(eventually([&] { return executor.statistics(late.index).completed == 1; }));
  removal = executor.remove("late");
  removal_known = true;
  expect_to_return("the removal", [&] { removal.wait(); });
  EXPECT_TRUE(handled);
  EXPECT_FALSE(gone_meanwhile);
  executor.stop();
}

}  // namespace
}  // namespace takt::test
