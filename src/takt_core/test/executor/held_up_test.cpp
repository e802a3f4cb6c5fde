// SPDX-License-Identifier: Apache-2.0
//
// A job that sleeps keeps others of its level from their core, although nobody computes.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "support.hpp"
#include "takt/os/usage.hpp"

namespace takt::test {
namespace {

// Who held up whom, and how often.
class HeldUp : public ::testing::TestWithParam<const char*> {
 protected:
  using Names = std::pair<std::string, std::string>;

  // Jobs of "first" of 30 ms, each with one of "second" that is due after 10 ms and comes
  // meanwhile; so many, or until it is told: what else this machine does may cost the deadline,
  // too.
  std::map<Names, int> reported(const std::function<void()>& first, int rounds) {
    std::map<Names, int> found;
    std::set<std::pair<executor::TaskIndex, std::uint64_t>> jobs;
    std::mutex mutex;
    std::map<executor::TaskIndex, std::string> names;
    Options options{.policy = sched::parse_policy(GetParam()),
                    .cpus = {os::current_thread().cpus.front()},
                    .external_topics = {"outside"},
                    .on_not_granted = [](const auto&) {}};
    options.handlers.held_up = [&](const executor::HoldUp& hold_up) {
      const std::lock_guard lock{mutex};
      EXPECT_GT(hold_up.slept, 0ns);
      EXPECT_TRUE(jobs.insert({hold_up.task, hold_up.job}).second) << "told twice";
      ++found[{names.at(hold_up.by), names.at(hold_up.task)}];
    };
    Executor executor{options};
    executor::ReleaseHandle second;
    const auto add = [&](const std::string& name, std::chrono::nanoseconds deadline,
                         std::function<void()> act) {
      sched::Task task = message(name, "outside", 20, deadline);
      task.group = "one";  // neither comes before the other has ended
      const auto added = executor.add(task, {[act = std::move(act)](const auto&) { act(); }});
      names[added.index] = name;
      return added.release;
    };
    std::atomic<int> ended{0};
    const auto begins = add("first", 10s, [&] {
      second.notify();
      first();
      ++ended;
    });
    second = add("second", 10ms, [&] { ++ended; });
    executor.start();
    const auto is_reported = [&] {
      const std::lock_guard lock{mutex};
      return !found.empty();
    };
    for (int round = 1; round <= rounds && !is_reported(); ++round) {
      begins.notify();
      EXPECT_TRUE(eventually([&] { return ended == 2 * round; }));
    }
    executor.stop();
    return found;
  }
};

INSTANTIATE_TEST_SUITE_P(Policies, HeldUp, ::testing::Values("fp", "edf", "np-fp"),
                         [](const auto& policy) {
                           std::string name = policy.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(HeldUp, BehindAJobThatSleepsIsReported) {
  if (!os::run_delay()) {
    GTEST_SKIP() << "the kernel does not tell how long a thread waits for its core";
  }
  const auto found = reported([] { std::this_thread::sleep_for(30ms); }, 1000);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.begin()->first, (std::pair<std::string, std::string>{"first", "second"}));
  EXPECT_GE(found.begin()->second, 1);  // a round more, where it is told after that has begun
}

// What computes needs its time, whatever it costs others; nor is it its fault that others had the
// core meanwhile. CPU time: what a hypervisor steals from 30 ms looks like sleep.
TEST_P(HeldUp, BehindAJobThatComputesIsNot) {
  const auto computed = [] { return os::resource_usage(os::UsageOf::thread).cpu_time; };
  const auto compute = [&] {
    const auto end = computed() + 30ms;
    while (computed() < end) {
    }
  };
  EXPECT_TRUE(reported(compute, 5).empty());
}

}  // namespace
}  // namespace takt::test
