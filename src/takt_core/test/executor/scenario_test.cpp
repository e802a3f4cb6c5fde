// SPDX-License-Identifier: Apache-2.0
//
// Scenario switches, and tasks that come and go while others run.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "../policies.hpp"
#include "support.hpp"
#include "takt/sched/error.hpp"

namespace takt::test {
namespace {

using sched::SchedulingScenario;
using sched::SchedulingStrategy;

class Scenario : public TracedUnderPolicy {};

INSTANTIATE_TEST_SUITE_P(Policies, Scenario, ::testing::Values("fp", "edf", "np-fp"), policy_name);

TEST_P(Scenario, SwitchFromACallbackTakesEffectAtTheNextDecision) {
  Executor executor{options()};
  const auto mode =
      executor.add(timer("mode", 100ms, 60), {[&](const sched::Job& job) {
                     EXPECT_TRUE(executor.switch_to(job.index % 2 == 0 ? "docking" : "cruising"));
                     EXPECT_FALSE(executor.switch_to("no such scenario"));
                     EXPECT_EQ(executor.scenario(), job.index % 2 == 0 ? "docking" : "cruising");
                   }});
  const auto brake =
      executor.add(timer("brake", 50ms, 20, 0ns, 10ms), {[](const auto&) { burn(50us); }});
  executor.set_scheduling_strategy(SchedulingStrategy{}
                                       .add_scenario(SchedulingScenario{"cruising"})
                                       .add_scenario(SchedulingScenario{"docking"}.add_task(
                                           {.task = "brake", .priority = 70, .period = 5ms})));
  executor.start();
  // Most of these releases are 5 ms apart; a machine that is busy skips some.
  EXPECT_TRUE(eventually([&] {
    return executor.statistics(mode.index).completed >= 6 &&
           executor.statistics(brake.index).completed >= 40;
  }));
  executor.stop();
  const trace::Trace trace = trace::read_trace(file_.path());
  TracedJobs jobs = jobs_of(trace);
  std::erase_if(jobs, [](const auto& entry) { return !entry.second.start; });
  // Between two jobs of "mode", the brake is released every 5 ms or every 50 ms.
  std::int64_t last = -1;
  std::int64_t scenario = 0;
  std::uint64_t fast = 0;
  int switches = 0;
  for (const trace::Event& event : trace.events) {
    if (event.type == trace::EventType::scenario) {
      EXPECT_NE(event.value, scenario) << "a switch that changes nothing";
      scenario = event.value;
      last = -1;
      ++switches;
    } else if (event.type == trace::EventType::release && trace.tasks.at(event.task) == "brake") {
      if (last >= 0) {
        // Skipped ones lie between.
        EXPECT_EQ((event.time - last) % (scenario == 1 ? 5'000'000 : 50'000'000), 0);
        fast += scenario == 1 ? 1 : 0;
        if (const auto job = jobs.find({event.task, event.job}); job != jobs.end()) {
          EXPECT_EQ(job->second.job.priority, scenario == 1 ? 70 : 20);
        }
      }
      last = event.time;
    }
  }
  EXPECT_GE(switches, 5);
  EXPECT_GE(fast, 10U);
}

TEST_P(Scenario, SwitchesUnderLoadFromManyThreadsLoseNoRelease) {
  Executor executor{options()};
  constexpr int tasks = 8;
  std::vector<std::vector<std::uint64_t>> jobs(tasks);
  for (int i = 0; i < tasks; ++i) {
    const auto index = static_cast<std::size_t>(i);
    executor.add(timer("task" + std::to_string(i), (2 + i) * 1ms, 10 + i),
                 {[&, index](const sched::Job& job) {
                   jobs[index].push_back(job.index);
                   burn(100us);
                   executor.switch_to(job.index % 2 == 0 ? "a" : "b");
                 }});
  }
  SchedulingScenario a{"a"};
  SchedulingScenario b{"b"};
  SchedulingScenario c{"c"};
  for (int i = 0; i < tasks; ++i) {
    const std::string name = "task" + std::to_string(i);
    a.add_task({.task = name, .priority = 50 - i});
    b.add_task({.task = name, .priority = 10 + (i * 5) % tasks, .period = (3 + i) * 1ms});
    c.add_task({.task = name, .active = i % 2 == 0});
  }
  executor.set_scheduling_strategy(
      SchedulingStrategy{}.add_scenario(a).add_scenario(b).add_scenario(c));
  std::atomic<bool> done{false};
  std::vector<std::thread> switchers;
  for (int thread = 0; thread < 3; ++thread) {
    switchers.emplace_back([&, thread] {
      const std::vector<std::string> names{"a", "b", "c", "nowhere"};
      for (std::size_t i = 0; !done; ++i) {
        const std::string& name = names[(i * 7 + static_cast<std::size_t>(thread)) % names.size()];
        EXPECT_EQ(executor.switch_to(name), name != "nowhere");
        os::sleep_until(os::now() + 100us);
      }
    });
  }
  run_until_each_completed(executor, 40);
  done = true;
  for (std::thread& switcher : switchers) {
    switcher.join();
  }
  const trace::Trace trace = trace::read_trace(file_.path());
  EXPECT_EQ(trace.lost, 0U);
  for (sched::TaskIndex i = 0; i < tasks; ++i) {
    const auto statistics = executor.statistics(i);
    EXPECT_GE(statistics.completed, 40U);
    EXPECT_EQ(statistics.completed, jobs[i].size());
    EXPECT_LE(statistics.releases, statistics.completed + statistics.skipped + 1);
    EXPECT_TRUE(std::ranges::is_sorted(jobs[i]));
    EXPECT_EQ(std::ranges::adjacent_find(jobs[i]), jobs[i].end()) << "a release ran twice";
  }
}

TEST_P(Scenario, OfAnotherPolicyReordersWhatPends) {
  if (GetParam() != "edf") {
    GTEST_SKIP() << "one case is enough: the policies are those of the scenarios";
  }
  if (const auto reason = no_real_time()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  Executor executor{options()};
  // Priorities and deadlines disagree. The gate keeps the core while the others are released.
  constexpr auto period = 300ms;
  int gates = 0;
  executor.add(timer("gate", period, 90, 10ms), {[&](const auto&) {
                 burn(8ms);
                 executor.switch_to(gates++ % 2 == 0 ? "by priority" : "by deadline");
               }});
  executor.add(timer("urgent", period, 10, 20ms, 3ms), {[](const auto&) {}});
  executor.add(timer("important", period, 50, 50ms, 3ms), {[](const auto&) {}});
  executor.set_scheduling_strategy(
      SchedulingStrategy{}
          .add_scenario(SchedulingScenario{"by deadline"})
          .add_scenario(SchedulingScenario{"by priority"}.set_scheduling_policy(
              sched::non_preemptive_fixed_priority())));
  run_until_each_completed(executor, 2);
  const std::vector<std::string> starts = starts_of(trace::read_trace(file_.path()));
  ASSERT_GE(starts.size(), 6U);
  EXPECT_EQ(
      (std::vector<std::string>{starts.begin(), starts.begin() + 6}),
      (std::vector<std::string>{"gate", "important", "urgent", "gate", "urgent", "important"}));
}

TEST_P(Scenario, TasksComeAndGoWhileOthersRunUndisturbed) {
  Executor executor{options()};
  executor.add(timer("steady", 2ms, 40), {[](const auto&) { burn(50us); }});
  executor.start();
  std::atomic<int> alive{0};
  struct Token {
    explicit Token(std::atomic<int>& number) : count(number) { ++count; }
    Token(const Token& other) : count(other.count) { ++count; }
    ~Token() { --count; }
    std::atomic<int>& count;
  };
  for (int round = 0; round < 12; ++round) {
    const std::string name = "guest" + std::to_string(round);
    std::atomic<int> runs{0};
    const auto added = executor.add(timer(name, 1ms, 20 + 3 * round),
                                    {[&runs, token = Token{alive}](const auto&) { ++runs; }});
    EXPECT_LE(added.index, 2U) << "the places of those before it were not used again";
    const auto give_up = os::now() + patience;
    while (runs < 5 && os::now() < give_up) {
      os::sleep_until(os::now() + 1ms);
    }
    EXPECT_GE(runs, 5) << name << " never ran";
    EXPECT_THROW(executor.add(timer(name, 1ms, 20), {[](const auto&) {}}), sched::ScheduleError);
    EXPECT_THROW(executor.add(timer("bad", 0ms, 20), {[](const auto&) {}}), sched::ScheduleError);
    executor.remove(name).wait();
    EXPECT_EQ(alive, 0) << "the callback outlived its task";
    const int after = runs;
    os::sleep_until(os::now() + 3ms);
    EXPECT_EQ(runs, after);
    EXPECT_THROW(executor.remove(name), sched::ScheduleError);
  }
  executor.stop();
  const auto statistics = executor.statistics(0);
  EXPECT_GT(statistics.completed, 20U);
  for (const auto& [key, traced] : jobs_of(trace::read_trace(file_.path()))) {
    if (key.first == 0) {  // on its grid all the time
      EXPECT_EQ(traced.job.release, executor.start_time() + key.second * 2ms);
    }
  }
}

TEST_P(Scenario, HoldsForATaskAsLongAsItIsThere) {
  Executor executor{options()};
  executor.add(timer("steady", 2ms, 40), {[](const auto&) {}});
  executor.set_scheduling_strategy(
      SchedulingStrategy{}
          .add_scenario(SchedulingScenario{"docking"}.add_task({.task = "guest", .active = false}))
          .add_scenario(SchedulingScenario{"cruising"})
          .allow_absent_tasks());
  executor.start();
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> runs{0};
    EXPECT_TRUE(executor.switch_to("docking"));
    executor.add(timer("guest", 1ms, 20), {[&](const auto&) { ++runs; }});
    const auto before = executor.statistics(0).completed;
    const auto give_up = os::now() + patience;
    while (executor.statistics(0).completed < before + 5 && os::now() < give_up) {
      os::sleep_until(os::now() + 1ms);
    }
    EXPECT_EQ(runs, 0);
    EXPECT_TRUE(executor.switch_to("cruising"));
    while (runs < 3 && os::now() < give_up) {
      os::sleep_until(os::now() + 1ms);
    }
    EXPECT_GE(runs, 3);
    executor.remove("guest").wait();
  }
  executor.stop();
}

TEST_P(Scenario, AMessageTaskCanBeAddedAndRemovedWhileMessagesCome) {
  Executor executor{options()};
  executor.add(timer("steady", 2ms, 40), {[](const auto&) {}});
  executor.start();
  std::atomic<int> runs{0};
  sched::Task task;
  task.name = "receiver";
  task.kind = sched::TaskKind::message;
  task.trigger = "outside";
  task.parameters.priority = 30;
  task.parameters.deadline = 1s;
  const auto added = executor.add(task, {.callback = [&](const auto&) { ++runs; }});
  std::atomic<bool> done{false};
  std::thread sender{[&] {
    while (!done) {
      added.release.notify();
      os::sleep_until(os::now() + 50us);
    }
  }};
  const auto give_up = os::now() + patience;
  while (runs < 20 && os::now() < give_up) {
    os::sleep_until(os::now() + 1ms);
  }
  executor.remove("receiver").wait();
  const int after = runs;
  EXPECT_GE(after, 20);
  os::sleep_until(os::now() + 10ms);
  EXPECT_EQ(runs, after);
  executor.stop();
  done = true;
  sender.join();
}

TEST(ScenarioCallback, MayChangeTasksItsOwnIncludedButNotWait) {
  Executor executor{{.cpus = {0}, .on_not_granted = [](const auto&) {}}};
  std::atomic<int> visits{0};
  executor.add(timer("host", 1ms, 10), {[&](const auto&) {
                 EXPECT_THROW(executor.stop(), std::logic_error);
                 const auto added = executor.add(timer("guest", 1ms, 1), {[&](const auto&) {
                                                   ++visits;
                                                   executor.remove("guest");
                                                 }});
                 EXPECT_THROW(added.change.wait(), std::logic_error);
                 executor.remove("host");
               }});
  executor.start();
  const auto give_up = os::now() + patience;
  while ((executor.find("guest") || executor.find("host")) && os::now() < give_up) {
    os::sleep_until(os::now() + 1ms);
  }
  executor.stop();
  EXPECT_EQ(visits, 1);
  EXPECT_FALSE(executor.find("host"));
}

}  // namespace
}  // namespace takt::test
