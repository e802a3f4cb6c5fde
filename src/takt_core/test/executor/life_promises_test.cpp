// SPDX-License-Identifier: Apache-2.0
//
// What the executor owes to those that use it for long and change it while it runs.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "../os/child.hpp"
#include "../os/sanitizer.hpp"
#include "little_memory.hpp"
#include "support.hpp"
#include "takt/os/memory.hpp"

namespace takt::test {
namespace {

using sched::SchedulingScenario;
using sched::SchedulingStrategy;

Options quiet(const char* policy) {
  return {.policy = sched::parse_policy(policy),
          .cpus = {os::current_thread().cpus.front()},
          .external_topics = {"outside"},
          .on_not_granted = [](const auto&) {}};
}

// A thread that announces messages, and can be stopped at any instruction of doing so: a signal
// handler holds it there, as a thread of a higher priority would.
class StoppableNotifier {
 public:
  explicit StoppableNotifier(executor::ReleaseHandle release) {
    struct sigaction action {};
    action.sa_handler = hold;
    sigaction(SIGUSR1, &action, nullptr);
    thread_ = std::thread{[this, release] {
      while (!done_) {
        accepted_ += release.notify() ? 1 : 0;
      }
    }};
  }
  ~StoppableNotifier() {
    done_ = true;
    thread_.join();
  }
  StoppableNotifier(const StoppableNotifier&) = delete;
  StoppableNotifier& operator=(const StoppableNotifier&) = delete;
  StoppableNotifier(StoppableNotifier&&) = delete;
  StoppableNotifier& operator=(StoppableNotifier&&) = delete;

  void stop() {
    hold_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    while (!held_) {
      std::this_thread::yield();
    }
  }
  static void go_on() {
    hold_ = false;
    while (held_) {
      std::this_thread::yield();
    }
  }
  // Notifications that were accepted and are complete.
  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }

 private:
  static void hold(int /*signal*/) {
    held_ = true;
    while (hold_) {
    }
    held_ = false;
  }
  static inline std::atomic<bool> hold_{false};
  static inline std::atomic<bool> held_{false};
  std::atomic<bool> done_{false};
  std::atomic<std::uint64_t> accepted_{0};
  std::thread thread_;
};

class LifePromises : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Policies, LifePromises, ::testing::Values("fp", "edf"),
                         [](const auto& policy) { return std::string{policy.param}; });

TEST_P(LifePromises, ANotifierThatIsPreemptedHidesNobodyElsesMessages) {
  if (os::test::sanitized) {
    GTEST_SKIP() << "sanitizers put signals off";
  }
  std::atomic<std::uint64_t> runs{0};
  Executor executor{quiet(GetParam())};
  const auto receiver = executor.add(message("receiver", "outside", 90),
                                     {.callback = [&](const auto&) { ++runs; }, .queue = 1024});
  executor.start();
  StoppableNotifier other{receiver.release};
  std::uint64_t mine = 0;
  for (int i = 0; i < 5'000; ++i) {
    other.stop();
    mine += receiver.release.notify() ? 1 : 0;
    const std::uint64_t complete = other.accepted() + mine;
    const bool served = eventually([&] { return runs >= complete; });
    other.go_on();
    ASSERT_TRUE(served) << "message " << mine << " waits for a thread that does not run";
  }
}

// Whether a switch from "a" to "b" is followed while "old", the most urgent task of "a", runs: its
// callback ends when "new" has run over it.
void expect_followed_at_once(const char* policy, int priority, const sched::TaskChange& in_b) {
  std::atomic<bool> started{false};
  std::atomic<bool> followed{false};
  std::atomic<bool> in_time{false};
  Executor executor{quiet(policy)};
  executor.add(timer("old", 30s, 20, 20s), {[&](const auto&) {
                 started = true;
                 in_time = eventually([&] { return followed.load(); });
               }});
  executor.add(timer("new", 1ms, priority), {[&](const auto&) { followed = true; }});
  executor.set_scheduling_strategy(
      SchedulingStrategy{}
          .add_scenario(SchedulingScenario{"a"}.add_task({.task = "new", .active = false}))
          .add_scenario(SchedulingScenario{"b"}.add_task(in_b)));
  executor.start();
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  EXPECT_TRUE(executor.switch_to("b"));
  EXPECT_TRUE(eventually([&] { return followed.load(); }));
  executor.stop();
  EXPECT_TRUE(in_time) << "the scenario was followed after the job only";
}

TEST_P(LifePromises, ASwitchIsFollowedWhileTheMostUrgentTaskOfTheOldScenarioRuns) {
  expect_followed_at_once(GetParam(), 30, {.task = "new"});
}

// In the old scenario nobody comes before the task that runs, and so nobody watches.
TEST_P(LifePromises, ASwitchThatLiftsATaskIsFollowedWhileTheMostUrgentOneOfBeforeRuns) {
  expect_followed_at_once(GetParam(), 10, {.task = "new", .priority = 30});
}

// Its thread is there from its first visit on: none has to come that would look around.
TEST_P(LifePromises, ATaskThatIsAddedAgainComesBeforeTheJobThatRuns) {
  std::atomic<int> visits{0};
  std::atomic<bool> started{false};
  std::atomic<bool> in_time{false};
  Executor executor{quiet(GetParam())};
  executor.add(timer("low", 600s, 10, 30s), {[](const auto&) {}});
  const auto busy =
      executor.add(message("busy", "outside", 20, 20s), {.callback = [&](const auto&) {
                     const int before = visits;
                     started = true;
                     in_time = eventually([&] { return visits > before; });
                   }});
  executor.start();
  const auto visit = [&] {
    executor.add(timer("guest", 600s, 30, 1ms), {[&](const auto&) { ++visits; }});
  };
  visit();
  EXPECT_TRUE(eventually([&] { return visits > 0; }));
  executor.remove("guest").wait();
  busy.release.notify();
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  visit();
  EXPECT_TRUE(eventually([&] { return visits > 1; }));
  executor.stop();
  EXPECT_TRUE(in_time) << "the job of a less urgent task was waited for";
}

// How often the threads of executors have gone to sleep, the caller left out.
std::uint64_t sleeps_of_other_workers() {
  std::uint64_t sleeps = 0;
  for (const os::ThreadStatus& thread : os::process_threads()) {
    if (thread.tid == gettid() || !thread.name.starts_with("takt.")) {
      continue;
    }
    std::ifstream status{"/proc/self/task/" + std::to_string(thread.tid) + "/status"};
    constexpr std::string_view key = "voluntary_ctxt_switches:";
    for (std::string line; std::getline(status, line);) {
      sleeps += line.starts_with(key) ? std::stoull(line.substr(key.size())) : 0;
    }
  }
  return sleeps;
}

TEST_P(LifePromises, NobodyWakesForALowReleaseWhileAHighJobRuns) {
  if (const auto reason = no_real_time()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  std::uint64_t disturbed = 0;
  Executor executor{quiet(GetParam())};
  const auto high = executor.add(timer("high", 30ms, 50, 10ms), {[&](const auto&) {
                                   const std::uint64_t before = sleeps_of_other_workers();
                                   burn(9ms);
                                   disturbed += sleeps_of_other_workers() == before ? 0 : 1;
                                 }});
  // Gives those that wait for a release a higher priority than the job has.
  executor.add(timer("rare", 100s, 90, 5ms), {[](const auto&) {}});
  // Some of them are released in every job of the other one.
  for (int i = 0; i < 5; ++i) {
    executor.add(timer("low" + std::to_string(i), (7 + 2 * i) * 1ms, 10 + i, 1s, i * 1ms),
                 {[i](const auto&) { burn(i * 200us); }});
  }
  executor.start();
  const auto jobs = [&] { return executor.statistics(high.index).completed; };
  EXPECT_TRUE(eventually([&] { return jobs() >= 40; }));
  executor.stop();
  EXPECT_LE(disturbed, jobs() / 10) << "of " << jobs();
}

TEST_P(LifePromises, ACallbackMayNameATopicOfTheTraceWhileAnotherThreadStops) {
  std::atomic<bool> started{false};
  std::atomic<bool> stops{false};
  Executor executor{quiet(GetParam())};
  executor.add(timer("task", 10s, 20), {[&](const auto&) {
                 started = true;
                 EXPECT_TRUE(eventually([&] { return stops.load(); }));
                 // Time for stop() to begin to wait for this job.
                 os::sleep_until(os::now() + 50ms);
                 static_cast<void>(executor.trace_topic("topic"));
               }});
  executor.start();
  ASSERT_TRUE(eventually([&] { return started.load(); }));
  expect_to_return("stop()", [&] {
    stops = true;
    executor.stop();
  });
}

// One task leaves no time to another one's job, which was released before, nor to a thread that
// joins the crew; but only for a part of a second of CPU time, in which the kernel does not
// throttle it. The caller has a CPU of its own, at a real-time priority, so that only a hypervisor
// could keep it from adding in time: not three times in a row.
TEST_P(LifePromises, AnAddDoesNotWaitForJobsOfOtherTasks) {
  const std::vector<int> cpus = os::current_thread().cpus;
  if (const auto reason = no_real_time(); reason || cpus.size() < 2) {
    GTEST_SKIP() << "needs two CPUs and real-time priorities: " << reason.value_or("");
  }
  bool in_time = false;
  for (int attempt = 0; attempt < 3 && !in_time; ++attempt) {
    std::atomic<bool> adds{false};
    std::atomic<bool> added{false};
    std::atomic<int> burned{0};
    Executor executor{quiet(GetParam())};
    sched::Task storm = timer("storm", 1ms, 40);
    storm.parameters.overrun = sched::Overrun::catch_up;
    executor.add(storm, {[&](const auto&) {
                   if (adds && !added && burned < 150) {
                     burn(3ms);
                     ++burned;
                   }
                 }});
    executor.add(timer("starved", 60s, 10, 0ns, 2ms), {[](const auto&) {}});
    executor.start();
    os::Thread caller{{.policy = os::SchedulingPolicy::fifo, .priority = 20, .cpus = {cpus.back()}},
                      [&] {
                        adds = true;
                        static_cast<void>(eventually([&] { return burned > 3; }));
                        // Another thread is needed for it: it may preempt the one that is starved.
                        executor.add(timer("guest", 60s, 20, 30s), {[](const auto&) {}});
                        added = true;
                        in_time = burned < 150;
                      }};
    caller.join();
    executor.stop();
  }
  EXPECT_TRUE(in_time) << "the job of another task was waited for";
}

TEST_P(LifePromises, AStartForWhichThereIsNoThreadCanBeTriedAgain) {
  if (os::test::sanitized) {
    GTEST_SKIP() << "sanitizers need memory of their own for each thread";
  }
  Options options = quiet(GetParam());
  options.lock_memory = false;
  options.stack = std::size_t{64} * 1024 * 1024;
  Executor executor{options};
  executor.add(timer("first", 1ms, 10, 1s), {[](const auto&) {}});
  executor.add(timer("second", 1ms, 40), {[](const auto&) {}});
  {
    const LittleMemory little;
    EXPECT_THROW(executor.start(), std::system_error);
  }
  run_until_each_completed(executor, 1);
  EXPECT_GE(executor.statistics(0).completed, 1U);
}

TEST_P(LifePromises, PlacesOfTasksThatWereRemovedAreUsedAgain) {
  const Options options = quiet(GetParam());
  constexpr executor::TaskIndex places = 8;
  Executor executor{options};
  executor.start();
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int> runs{0};
    const auto added =
        executor.add(message("guest", "outside", 10 + round % 50), {[&](const auto&) { ++runs; }});
    ASSERT_LT(added.index, places);
    added.release.notify();
    ASSERT_TRUE(eventually([&] { return runs > 0; }));
    expect_to_return("remove()", [&] { executor.remove("guest").wait(); });
  }
  executor.stop();
}

TEST_P(LifePromises, AnyNumberOfTasksCanBeAddedWhileOthersRun) {
  constexpr int hosts = 60;
  constexpr int guests = 2000;
  constexpr int at_once = 500;
  Executor executor{quiet(GetParam())};
  std::vector<std::string> names;
  for (int host = 0; host < hosts; ++host) {
    names.push_back("host " + std::to_string(host));
    executor.add(timer(names.back(), 50ms, 10 + host), {[](const auto&) {}});
  }
  executor.start();
  for (int guest = 0; guest < guests;) {
    executor::Changes come;
    for (int i = 0; i < at_once; ++i, ++guest) {
      names.push_back("guest " + std::to_string(guest));
      come.add(message(names.back(), "outside", 1 + guest % 90, 100s), {[](const auto&) {}});
    }
    for (const executor::AddedTask& added : executor.apply(std::move(come)).added) {
      added.release.notify();
    }
  }
  // Also those that were there before, and were waiting for their releases meanwhile.
  const auto completed = [&](const std::string& name) {
    return executor.statistics(executor.find(name).value()).completed;
  };
  std::vector<std::uint64_t> before;
  std::ranges::transform(names, std::back_inserter(before), completed);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint64_t wanted = i < hosts ? before[i] + 1 : 1;
    EXPECT_TRUE(eventually([&] { return completed(names[i]) >= wanted; })) << names[i];
  }
  expect_to_return("stop()", [&] { executor.stop(); });
}

}  // namespace
}  // namespace takt::test
