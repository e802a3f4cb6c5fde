// SPDX-License-Identifier: Apache-2.0
//
// An executor whose core somebody else's real-time thread holds ends when it is asked to.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "support.hpp"

namespace takt::test {
namespace {

class Held : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Under, Held, ::testing::Values("fp", "edf"),
                         [](const auto& policy) { return policy.param; });

TEST_P(Held, AnExecutorEndsBeforeItsCoreIsFree) {
  const std::vector<int> own = os::current_thread().cpus;
  if (own.size() < 2 || no_real_time()) {
    GTEST_SKIP() << "it needs a second core, and real-time priorities";
  }
  const int core = own.back();
  constexpr std::chrono::seconds most{10};
  std::atomic<bool> spins{false};
  std::atomic<bool> ends{false};
  std::atomic<bool> gave_up{false};
  const os::Thread spinner{
      {.policy = os::SchedulingPolicy::fifo, .priority = os::max_priority, .cpus = {core}}, [&] {
        spins = true;
        const auto end = os::now() + most;
        while (!ends && os::now() < end) {
        }
        gave_up = !ends;
      }};
  ASSERT_TRUE(eventually([&] { return spins.load(); }));
  Executor executor{{.policy = sched::parse_policy(GetParam()),
                     .cpus = {core},
                     .on_not_granted = [](const auto&) {}}};
  executor.add(timer("low", 1ms, 30), {[](const auto&) {}});
  executor.add(timer("high", 2ms, 40), {[](const auto&) {}});
  executor.start();
  expect_to_return("stop()", [&] { executor.stop(); });
  ends = true;
  EXPECT_FALSE(gave_up) << "it waited for its core";
}

}  // namespace
}  // namespace takt::test
