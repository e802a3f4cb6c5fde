// SPDX-License-Identifier: Apache-2.0
//
// Groups, messages, overruns, misses, budgets and the stop, for both kinds of back end.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"
#include "takt/os/usage.hpp"
#include "takt/sched/error.hpp"
#include "takt/trace/current.hpp"

namespace takt::test {
namespace {

using executor::Handlers;
using sched::Overrun;

struct Setting {
  std::string policy;
  bool real_time;

  friend void PrintTo(const Setting& value, std::ostream* out) { *out << value.policy; }
};

class Behaviour : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    if (const auto reason = no_real_time(); GetParam().real_time && reason) {
      GTEST_SKIP() << "needs real-time priorities: " << *reason;
    }
  }
  Options options(Handlers handlers = {}) const {
    return {.policy = sched::parse_policy(GetParam().policy),
            .cpus = {0},
            .external_topics = {"outside"},
            .real_time = GetParam().real_time,
            .trace = file_.path(),
            .handlers = std::move(handlers),
            .on_not_granted = [](const auto&) {}};
  }
  trace::Trace trace() const { return trace::read_trace(file_.path()); }

  TemporaryFile file_;
};

INSTANTIATE_TEST_SUITE_P(BackEnds, Behaviour,
                         ::testing::Values(Setting{"fp", true}, Setting{"edf", true},
                                           Setting{"np-edf", true}, Setting{"fp", false},
                                           Setting{"edf", false}, Setting{"np-fp", false}),
                         [](const auto& setting) {
                           std::string name = setting.param.policy;
                           std::ranges::replace(name, '-', '_');
                           return name + (setting.param.real_time ? "_fifo" : "_other");
                         });

TEST_P(Behaviour, KeepsGroupsExclusiveEvenWhenCallbacksSleep) {
  std::atomic<int> inside{0};
  std::atomic<int> collisions{0};
  Executor executor{options()};
  const std::set<std::string> members{"a", "b", "c"};
  int i = 0;
  for (const std::string& name : members) {
    sched::Task task = timer(name, (3 + 2 * i) * 1ms, 10 + 10 * i, 0ns, i * 300us);
    task.group = "shared";
    executor.add(task, {[&, i](const auto&) {
                   collisions += ++inside > 1 ? 1 : 0;
                   burn(500us);
                   if (i == 1) {
                     os::sleep_until(os::now() + 200us);
                   }
                   --inside;
                 }});
    ++i;
  }
  executor.add(timer("alone", 2ms, 25), {[](const auto&) { burn(100us); }});
  run_until_each_completed(executor, 30);
  EXPECT_EQ(collisions, 0);
  const trace::Trace result = trace();
  expect_exclusive(result, members);
  for (sched::TaskIndex task = 0; task < 4; ++task) {
    EXPECT_GE(executor.statistics(task).completed, 30U);
  }
}

TEST(WakeUps, AreOneForTimersThatFollowEachOther) {
  if (const auto reason = no_real_time()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  constexpr std::uint64_t first = 10;
  constexpr std::uint64_t last = 60;
  std::int64_t switches = 0;
  bool counts = false;
  std::promise<void> counted;
  Executor executor{{.policy = sched::fixed_priority(),
                     .cpus = {0},
                     .external_topics = {"outside"},
                     .on_not_granted = [](const auto&) {}}};
  executor.add(timer("first", 10ms, 40), {[&](const sched::Job& job) {
                 const auto so_far = os::resource_usage(os::UsageOf::process).voluntary_switches;
                 // The very one may be skipped, where the machine stood still.
                 if (job.index >= first && job.index < last && !counts) {
                   switches = -so_far;
                   counts = true;
                 } else if (job.index >= last && counts) {
                   switches += so_far;
                   counts = false;
                   counted.set_value();
                 }
                 burn(200us);  // all others are due by then
               }});
  for (int i = 1; i < 10; ++i) {
    executor.add(timer("follows" + std::to_string(i), 10ms, 40, 0ns, i * 1us),
                 {[](const sched::Job&) {}});
  }
  // So that there is something to preempt.
  executor.add(message("low", "outside", 1), {[](const sched::Job&) {}});
  executor.start();
  const bool ended = counted.get_future().wait_for(patience) == std::future_status::ready;
  executor.stop();
  ASSERT_TRUE(ended);
  EXPECT_LT(switches, static_cast<std::int64_t>(last - first) * 3 / 2);
}

TEST_P(Behaviour, CountsEveryReleaseAsCompletedOrSkipped) {
  std::vector<std::vector<std::uint64_t>> jobs(3);
  std::vector<std::vector<std::uint64_t>> skipped(3);
  Handlers handlers;
  handlers.skip = [&](const executor::Skip& skip) {
    for (std::uint64_t i = 0; i < skip.count; ++i) {
      skipped[skip.task].push_back(skip.first + i);
    }
  };
  Executor executor{options(handlers)};
  const std::vector<Overrun> overruns{Overrun::skip, Overrun::queue_one, Overrun::catch_up};
  for (std::size_t i = 0; i < overruns.size(); ++i) {
    sched::Task task = timer("task" + std::to_string(i), 5ms, 30 - static_cast<int>(i));
    task.parameters.overrun = overruns[i];
    executor.add(task, {[&jobs, i](const sched::Job& job) {
                   jobs[i].push_back(job.index);
                   // Every fifth job takes longer than three periods.
                   burn(job.index % 5 == 0 ? 17ms : 100us);
                 }});
  }
  run_until_each_completed(executor, 12);
  for (std::size_t i = 0; i < overruns.size(); ++i) {
    const auto statistics = executor.statistics(static_cast<sched::TaskIndex>(i));
    EXPECT_EQ(statistics.completed, jobs[i].size());
    EXPECT_EQ(statistics.skipped, skipped[i].size());
    // All indices from 0 up to the last job, each once: none lost, none twice.
    std::vector<std::uint64_t> all = jobs[i];
    all.insert(all.end(), skipped[i].begin(), skipped[i].end());
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << "task " << i;
    for (std::uint64_t k = 0; k <= jobs[i].back(); ++k) {
      ASSERT_EQ(all[k], k) << "task " << i;
    }
    EXPECT_GE(jobs[i].size(), 12U);
    EXPECT_LE(statistics.releases - all.size(), 1U);
  }
  EXPECT_GT(skipped[0].size(), 2U);
  EXPECT_TRUE(skipped[2].empty());
  // The trace tells the same, and every release lies on the grid.
  for (const auto& [key, traced] : jobs_of(trace())) {
    EXPECT_EQ(traced.job.release, executor.start_time() + key.second * 5ms);
  }
}

TEST_P(Behaviour, RunsAMessageTaskOnceForEachMessage) {
  constexpr int threads = 3;
  constexpr int each = 2000;
  std::atomic<int> runs{0};
  Executor executor{options()};
  const auto added = executor.add(message("receiver", "outside", 20),
                                  {.callback = [&](const auto&) { ++runs; }, .queue = 64});
  executor.add(timer("load", 3ms, 10), {[](const auto&) { burn(1ms); }});
  executor.start();
  std::vector<std::thread> senders;
  std::atomic<int> accepted{0};
  for (int thread = 0; thread < threads; ++thread) {
    senders.emplace_back([&] {
      for (int i = 0; i < each; ++i) {
        accepted += added.release.notify() ? 1 : 0;
        if (i % 16 == 0) {
          std::this_thread::yield();
        }
      }
    });
  }
  for (std::thread& sender : senders) {
    sender.join();
  }
  // The last ones are under way, unless they were forgotten.
  static_cast<void>(eventually([&] { return runs >= accepted; }));
  executor.stop();
  const auto statistics = executor.statistics(added.index);
  EXPECT_EQ(runs, accepted);
  EXPECT_EQ(statistics.completed, static_cast<std::uint64_t>(accepted));
  EXPECT_EQ(statistics.completed + statistics.lost_arrivals,
            static_cast<std::uint64_t>(threads * each));
}

TEST_P(Behaviour, ReportsMissesAndBudgetsToTheHandlers) {
  std::vector<executor::Miss> misses;
  std::vector<executor::BudgetOverrun> overruns;
  Executor executor{options({.deadline_miss = [&](const auto& miss) { misses.push_back(miss); },
                             .budget_overrun = [&](const auto& o) { overruns.push_back(o); }})};
  sched::Task task = timer("late", 20ms, 50, 2ms);
  task.parameters.budget = 1ms;
  task.parameters.expected_execution = 500us;
  executor.add(task, {[](const sched::Job& job) {
                 if (job.index % 2 == 1) {
                   burn(3ms);
                 }
               }});
  run_until_each_completed(executor, 8);
  const auto statistics = executor.statistics(0);
  ASSERT_GE(statistics.completed, 8U);
  EXPECT_EQ(statistics.deadline_misses, misses.size());
  EXPECT_EQ(statistics.budget_overruns, overruns.size());
  EXPECT_GE(misses.size(), statistics.completed / 2 - 1);
  for (const executor::Miss& miss : misses) {
    EXPECT_GT(miss.ended, miss.deadline);
    EXPECT_EQ(miss.deadline, miss.release + 2ms);
  }
  for (const executor::BudgetOverrun& overrun : overruns) {
    EXPECT_EQ(overrun.job % 2, 1U);
    EXPECT_GT(overrun.used, overrun.budget);
  }
}

TEST_P(Behaviour, StopsAfterTheJobsThatRun) {
  std::atomic<int> started{0};
  std::atomic<int> ended{0};
  Executor executor{options()};
  for (int i = 0; i < 4; ++i) {
    executor.add(timer("burner" + std::to_string(i), 10ms, 10 + i), {[&](const auto&) {
                   ++started;
                   burn(20ms);
                   ++ended;
                 }});
  }
  executor.start();
  while (started == 0) {
    std::this_thread::yield();
  }
  const int before = started;
  executor.stop();
  EXPECT_EQ(started, ended);
  // Those that ran when the stop came, at most one for each task, and no more.
  EXPECT_LE(started - before, 4);
  const int after = started;
  os::sleep_until(os::now() + 20ms);
  EXPECT_EQ(started, after);
}

TEST_P(Behaviour, StopsFromACallback) {
  Executor executor{options()};
  executor.add(timer("sleeper", 10s, 40, 0ns, 9s), {[](const auto&) {}});
  executor.add(timer("stopper", 1ms, 20), {[&](const sched::Job& job) {
                 if (job.index >= 5) {
                   executor.request_stop();
                 }
               }});
  executor.spin();
  EXPECT_GE(executor.statistics(1).completed, 1U);
  EXPECT_EQ(executor.statistics(0).completed, 0U);
}

TEST(Trace, HoldsTheCpuTimeOfEveryJobAndWhatCallbacksRecord) {
  const TemporaryFile file;
  Executor executor{{.cpus = {0},
                     .trace = file.path(),
                     .trace_cpu_time = true,
                     .trace_attributes = {{"seed", "7"}},
                     .on_not_granted = [](const auto&) {}}};
  const std::uint16_t topic = executor.trace_topic("/scan");
  executor.add(timer("writer", 2ms, 10), {.callback = [&](const auto& job) {
                 burn(100us);
                 trace::record_in_job(trace::EventType::publish, os::now(), topic,
                                      static_cast<std::int64_t>(job.index));
               }});
  run_until_each_completed(executor, 3);
  const trace::Trace trace = trace::read_trace(file.path());
  EXPECT_EQ(trace.topics.at(topic), "/scan");
  EXPECT_EQ(std::ranges::count(trace.attributes, "seed=7"), 1);
  int ends = 0;
  int published = 0;
  for (const trace::Event& event : trace.events) {
    if (event.type == trace::EventType::end) {
      EXPECT_GT(event.value, 0);
      ++ends;
    } else if (event.type == trace::EventType::publish) {
      EXPECT_EQ(event.value, static_cast<std::int64_t>(event.job));
      EXPECT_EQ(event.topic, topic);
      ++published;
    }
  }
  EXPECT_GE(ends, 3);
  EXPECT_EQ(published, ends);
}

TEST(Trace, ReportsHowOftenAJobSlept) {
  if (!os::run_delay()) GTEST_SKIP() << "this kernel does not count waits";
  const TemporaryFile file;
  Executor executor{{.cpus = {0},
                     .trace = file.path(),
                     .trace_cpu_time = true,
                     .on_not_granted = [](const auto&) {}}};
  // On a busy machine a job may find the time gone before it sleeps; one in seven does not.
  executor.add(timer("sleeper", 10ms, 10), {.callback = [&](const auto&) {
                 os::sleep_until(os::now() + 2ms);
                 os::sleep_until(os::now() + 2ms);
               }});
  run_until_each_completed(executor, 20);
  const trace::Trace trace = trace::read_trace(file.path());
  EXPECT_EQ(std::ranges::count(trace.attributes, "waits_from_ns=10000"), 1);
  const auto sleeps = std::ranges::count_if(trace.events, [](const trace::Event& event) {
    return event.type == trace::EventType::wait && event.detail == 1 + 2;
  });
  EXPECT_GE(sleeps, 3);
}

}  // namespace
}  // namespace takt::test
