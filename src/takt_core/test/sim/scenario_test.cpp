// SPDX-License-Identifier: Apache-2.0
//
// Switches of the scenario, overheads, jitter, and what ends with the simulation.
#include <system_error>

#include "sim/schedule.hpp"
#include "takt/sched/error.hpp"

namespace takt::sim {
namespace {

using Summary = Schedule::Summary;
using sched::SchedulingScenario;

application::Application switching(const std::vector<Task>& tasks, const std::string& policy,
                                   SchedulingScenario other, nanoseconds when) {
  application::Application app = application(tasks, policy);
  app.strategy.emplace().add_scenario(SchedulingScenario{"first"}).add_scenario(std::move(other));
  app.switches = {{.at = when, .scenario = "other"}};
  return app;
}

std::vector<nanoseconds> releases_of(const Schedule& schedule, TaskIndex task) {
  std::vector<nanoseconds> times;
  for (const auto& [id, release] : schedule.releases) {
    if (id.first == task) times.push_back(release.time_since_epoch());
  }
  return times;
}

TEST(Scenario, changes_periods_from_the_last_release_on) {
  SchedulingScenario other{"other"};
  other.add_task({.task = "a", .period = 4ms});
  const auto app =
      switching({timer("a", 10ms, 1ms, 10), timer("b", 10ms, 1ms, 20)}, "fp", other, 12ms);
  const Schedule schedule = sim::schedule(app, 22ms);
  EXPECT_EQ(releases_of(schedule, 0), (std::vector<nanoseconds>{0ms, 10ms, 14ms, 18ms}));
  EXPECT_EQ(releases_of(schedule, 1), (std::vector<nanoseconds>{0ms, 10ms, 20ms}));
  const auto simulated =
      std::ranges::find(schedule.trace.events, trace::EventType::scenario, &trace::Event::type);
  ASSERT_NE(simulated, schedule.trace.events.end());
  EXPECT_EQ(simulated->time, nanoseconds{12ms}.count());
  EXPECT_EQ(schedule.trace.scenarios.at(static_cast<std::uint16_t>(simulated->value)), "other");
}

TEST(Scenario, follows_at_once_whatever_runs) {
  SchedulingScenario other{"other"};
  other.add_task({.task = "a", .active = false});
  for (const char* policy : {"fp", "edf", "np-edf"}) {
    const auto app =
        switching({timer("a", 10ms, 4ms, 20), timer("b", 10ms, 1ms, 10)}, policy, other, 1ms);
    const Schedule schedule = sim::schedule(app, 30ms);
    EXPECT_EQ(releases_of(schedule, 0), (std::vector<nanoseconds>{0ms}));
    const auto simulated =
        std::ranges::find(schedule.trace.events, trace::EventType::scenario, &trace::Event::type);
    EXPECT_EQ(simulated->time, nanoseconds{1ms}.count()) << policy;
  }
}

// The job of b is released while a runs, so nobody looks for it before the switch.
TEST(Scenario, leaves_jobs_the_deadline_that_they_were_released_with) {
  SchedulingScenario other{"other"};
  other.add_task({.task = "b", .deadline = 2ms});
  Task a = timer("a", 20ms, 4ms);
  a.parameters.deadline = 6ms;
  Task b = timer("b", 20ms, 1ms);
  b.parameters.deadline = 16ms;
  b.parameters.offset = 1ms;
  const Result result = simulate(switching({a, b}, "edf", other, 3ms), {.duration = 15ms});
  EXPECT_EQ(result.jobs, 2U);
  EXPECT_EQ(result.misses, 0U);
}

// The top task of the old scenario runs, and one of the new scenario comes before it.
TEST(Scenario, lets_a_task_of_the_new_one_preempt_the_top_task_of_the_old_one) {
  Task top = timer("top", 60ms, 20ms, 30);
  top.parameters.deadline = 25ms;
  Task urgent = timer("urgent", 60ms, 2ms, 40);
  urgent.parameters.deadline = 5ms;
  urgent.parameters.active = false;
  SchedulingScenario other{"other"};
  other.add_task({.task = "urgent", .active = true});
  for (const char* policy : {"fp", "edf"}) {
    const auto app = switching({top, urgent}, policy, other, 3ms);
    const Schedule schedule = sim::schedule(app, 40ms);
    EXPECT_EQ(schedule.summary(), (Summary{{1, {3ms, 5ms}}, {0, {0ms, 22ms}}})) << policy;
  }
}

// The gate keeps the core until 8. Priorities and deadlines disagree on who is next.
TEST(Scenario, of_another_policy_reorders_what_waits) {
  Task urgent = timer("urgent", 60ms, 1ms, 10);
  urgent.parameters.deadline = 20ms;
  Task important = timer("important", 60ms, 1ms, 50);
  important.parameters.deadline = 50ms;
  Task gate = timer("gate", 60ms, 8ms, 90);
  gate.parameters.deadline = 10ms;
  SchedulingScenario other{"other"};
  other.set_scheduling_policy(sched::non_preemptive_fixed_priority());
  const auto before = application({gate, urgent, important}, "edf");
  EXPECT_EQ(sim::schedule(before, 20ms).summary(),
            (Summary{{0, {0ms, 8ms}}, {1, {8ms, 9ms}}, {2, {9ms, 10ms}}}));
  const auto after = switching({gate, urgent, important}, "edf", other, 3ms);
  EXPECT_EQ(sim::schedule(after, 20ms).summary(),
            (Summary{{0, {0ms, 8ms}}, {2, {8ms, 9ms}}, {1, {9ms, 10ms}}}));
}

TEST(Scenario, leaves_its_parameters_to_a_job_that_was_released_before) {
  SchedulingScenario other{"other"};
  other.add_task({.task = "low", .priority = 25});
  const auto app = switching(
      {timer("high", 60ms, 8ms, 30), timer("middle", 60ms, 2ms, 20), timer("low", 60ms, 2ms, 10)},
      "fp", other, 3ms);
  const Schedule schedule = sim::schedule(app, 20ms);
  EXPECT_EQ(schedule.summary(), (Summary{{0, {0ms, 8ms}}, {1, {8ms, 10ms}}, {2, {10ms, 12ms}}}));
  EXPECT_EQ(schedule.finished[2].priority, 10);
}

TEST(Scenario, scales_execution_times_where_it_declares_others) {
  SchedulingScenario other{"other"};
  other.add_task({.task = "a", .expected_execution = 6ms});
  const auto app = switching({timer("a", 10ms, 2ms, 10)}, "fp", other, 10ms);
  EXPECT_EQ(sim::schedule(app, 30ms).summary(),
            (Summary{{0, {0ms, 2ms}}, {0, {10ms, 16ms}}, {0, {20ms, 26ms}}}));
}

TEST(Overheads, are_paid_by_whom_they_hold_up) {
  std::vector<Task> tasks{timer("high", 20ms, 2ms, 20), timer("low", 40ms, 10ms, 10)};
  tasks[0].parameters.offset = 5ms;
  application::Application app = application(tasks, "fp");
  app.overheads = {.dispatch = 100us, .preemption = 300us, .release = 10us};
  const Schedule schedule = sim::schedule(app, 30ms);
  // The release at 0 and that at 5 are paid by whoever runs then; low by its preemption, too.
  EXPECT_EQ(schedule.summary(), (Summary{{0, {5ms, 5ms + 2ms + 100us + 10us}},
                                         {1, {0ms, 12ms + 2 * 100us + 300us + 2 * 10us}},
                                         {0, {25ms, 27ms + 100us + 10us}}}));
  EXPECT_EQ(schedule.result.callbacks[1].computed, 10ms);
  EXPECT_TRUE(schedule.result.overheads);
}

TEST(Overheads, of_messages_are_computing_time) {
  std::vector<Task> tasks{timer("w", 20ms, 1ms, 20), timer("r", 40ms, 1ms, 10)};
  tasks[0].writes = {"t"};
  tasks[1].reads = {{.topic = "t"}};
  tasks[1].parameters.offset = 39ms;
  application::Application app = application(tasks, "fp");
  app.topics.push_back({.name = "t", .bytes = 4096, .depth = 8});
  app.overheads = {
      .publish = 10us, .publish_per_kib = 5us, .deliver = 20us, .deliver_per_kib = 1us};
  const Schedule schedule = sim::schedule(app, 50ms);
  ASSERT_EQ(schedule.finished.size(), 4U);
  EXPECT_EQ(schedule.finished[0].end, at(1030us));
  // The third message comes at 40, after the reader has started: two are delivered.
  EXPECT_EQ(schedule.finished[3].id.first, 1U);
  EXPECT_EQ(schedule.result.callbacks[1].computed, 1ms + 2 * 24us);
}

TEST(Jitter, delays_the_noticing_and_not_the_release) {
  application::Application app = application({timer("a", 10ms, 1ms, 10)}, "fp");
  app.callbacks[0].jitter = 5ms;
  const Schedule schedule = sim::schedule(app, 1s, {.execution = ExecutionTimes::drawn});
  nanoseconds most{0};
  for (const Finished& job : schedule.finished) {
    EXPECT_EQ(job.release, at(static_cast<std::int64_t>(job.id.second) * 10ms));
    ASSERT_LE(job.start - job.release, 5ms);
    most = std::max(most, job.start - job.release);
  }
  EXPECT_GT(most, 4ms);
  EXPECT_EQ(schedule.result.callbacks[0].start_delay.max, most);
  EXPECT_EQ(schedule.result.jobs, 100U);
}

TEST(Jitter, of_the_worst_case_makes_releases_as_dense_as_they_can_be) {
  application::Application app = application({timer("a", 10ms, 1ms, 10)}, "fp");
  app.callbacks[0].jitter = 15ms;  // above the period: a second release waits already
  app.callbacks[0].task.parameters.overrun = sched::Overrun::catch_up;
  for (const std::uint64_t seed : {1U, 2U}) {
    const Schedule schedule = sim::schedule(app, 100ms, {.seed = seed});
    ASSERT_EQ(schedule.finished.size(), 10U);
    EXPECT_EQ(schedule.finished[0].start, at(15ms));
    EXPECT_EQ(schedule.finished[1].start, at(16ms));
    EXPECT_EQ(schedule.finished[2].start, at(20ms));
    EXPECT_EQ(schedule.result.callbacks[0].response.max, 16ms);
  }
}

TEST(End, counts_what_has_not_ended_and_is_late) {
  const Schedule schedule = sim::schedule(
      application({timer("high", 10ms, 9ms, 20), timer("starved", 12ms, 5ms, 10)}, "fp"), 50ms);
  const CallbackResult& starved = schedule.result.callbacks[1];
  EXPECT_EQ(starved.jobs, 1U);  // from 9 to 50, a millisecond at a time
  const Schedule shorter = sim::schedule(
      application({timer("high", 10ms, 10ms, 20), timer("starved", 12ms, 5ms, 10)}, "fp"), 50ms);
  EXPECT_EQ(shorter.result.callbacks[1].jobs, 0U);
  EXPECT_EQ(shorter.result.callbacks[1].unfinished, 1U);
  EXPECT_EQ(shorter.result.callbacks[1].releases, 1U);
  EXPECT_EQ(shorter.result.callbacks[1].misses, 1U);
  EXPECT_EQ(shorter.result.cores[0].busy, 50ms);
}

TEST(End, comes_when_the_caller_asks_for_it) {
  const auto app = application({timer("a", 1ms, 100us, 10)}, "fp");
  const Result result =
      simulate(app, {.duration = 1'000s, .progress = [](double share) { return share < 0.5; }});
  EXPECT_TRUE(result.interrupted);
  EXPECT_GT(result.duration, 400s);
  EXPECT_LT(result.duration, 1'000s);
  EXPECT_EQ(result.callbacks[0].releases, result.jobs + result.callbacks[0].unfinished);
}

TEST(Overload, skips_the_releases_that_come_while_a_job_runs) {
  const auto app = application({timer("a", 10ms, 25ms, 10)}, "fp");
  const Result result = simulate(app, {.duration = 90ms});
  EXPECT_EQ(result.callbacks[0].misses, 3);   // released at 0, 30 and 60 ms
  EXPECT_EQ(result.callbacks[0].skipped, 6);  // two releases each
}

TEST(Refused, is_what_the_executor_refuses_and_what_never_begins) {
  const auto app = application({timer("a", 10ms, 1ms, 200)}, "fp");
  EXPECT_NE(sched::error_of([&] { simulate(app); }).find("outside of 1..98"), std::string::npos);
  Task idle = timer("a", 10ms, 1ms, 10);
  idle.parameters.active = false;
  EXPECT_NE(sched::error_of([&] {
              simulate(application({idle}, "fp"));
            }).find("nothing is ever released"),
            std::string::npos);
  EXPECT_THROW(
      simulate(application({timer("a", 10ms, 1ms, 10)}, "fp"), {.trace = "/nowhere/at/all"}),
      std::system_error);
}

}  // namespace
}  // namespace takt::sim
