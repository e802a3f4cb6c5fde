// SPDX-License-Identifier: Apache-2.0
//
// What holds for every application, on random ones.
#include <map>
#include <set>

#include "sim/oracle.hpp"
#include "sim/schedule.hpp"

namespace takt::sim {
namespace {

using sched::Random;

std::vector<Task> random_tasks(Random& random, int most) {
  std::vector<Task> tasks;
  const int count = random.number(2, most);
  const int groups = random.number(1, 3);
  for (int i = 0; i < count; ++i) {
    Task task =
        timer(std::to_string(i), random.time(5, 40), random.time(1, 5), random.number(1, 98));
    task.parameters.offset = random.chance(0.5) ? 0ms : random.time(0, 20);
    if (random.chance(0.5)) {
      task.parameters.deadline = random.time(5, 60);
    }
    if (random.chance(0.5)) {
      task.group = "group " + std::to_string(random.number(1, groups));
    }
    tasks.push_back(task);
  }
  return tasks;
}

// Timers, messages over several cores, overruns, jitter, ages, scenarios, overheads.
application::Application random_application(Random& random) {
  const std::vector<std::string> policies{"fp", "edf", "np-fp", "np-edf", "rm"};
  std::vector<Task> tasks = random_tasks(random, 8);
  const std::vector<sched::Overrun> overruns{sched::Overrun::skip, sched::Overrun::queue_one,
                                             sched::Overrun::catch_up};
  const auto topic = [&] { return "topic " + std::to_string(random.number(0, 3)); };
  tasks[0].writes = {"topic 0", "topic 1"};
  tasks[1].writes = {"topic 2"};
  for (Task& task : tasks) {
    task.parameters.overrun = overruns[static_cast<std::size_t>(random.number(0, 2))];
    task.group.clear();  // must not lie on two cores
    if (random.chance(0.4)) {
      task.reads = {{.topic = topic(), .max_age = random.chance(0.3) ? random.time(40, 90) : 0ms}};
    }
  }
  const int messages = random.number(0, 3);
  for (int i = 0; i < messages; ++i) {
    Task task = sched::message("message " + std::to_string(i), topic(), random.number(1, 98));
    task.parameters.expected_execution = random.time(1, 3);
    task.parameters.deadline = random.time(10, 50);
    task.parameters.period = 20ms;
    task.parameters.overrun = overruns[static_cast<std::size_t>(random.number(0, 2))];
    tasks.push_back(task);
  }
  application::Application app =
      application(tasks, policies[static_cast<std::size_t>(random.number(0, 4))]);
  app.cpus = random.chance(0.5) ? std::vector{0} : std::vector{2, 5};
  for (int i = 0; i < 4; ++i) {
    app.topics.push_back({.name = "topic " + std::to_string(i),
                          .bytes = 2048,
                          .depth = static_cast<std::size_t>(random.number(1, 3))});
  }
  app.topics[3].external = true;
  app.topics[3].external_period = random.time(7, 30);
  for (application::Callback& callback : app.callbacks) {
    callback.jitter = random.chance(0.3) ? random.time(0, 4) : 0ms;
    callback.execution.best = callback.execution.worst / 3;
    callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
    callback.task.parameters.budget = random.chance(0.3) ? callback.execution.worst / 2 : 0ns;
  }
  if (random.chance(0.5)) {
    app.overheads = {.dispatch = 5us,
                     .preemption = 7us,
                     .release = 2us,
                     .publish = 3us,
                     .publish_per_kib = 1us,
                     .deliver = 1us,
                     .deliver_per_kib = 1us};
  }
  if (random.chance(0.5)) {
    sched::SchedulingScenario other{"other"};
    other.add_task({.task = "0", .priority = random.number(1, 98), .period = random.time(6, 30)});
    other.add_task({.task = "1", .active = random.chance(0.5)});
    if (random.chance(0.3)) {
      other.set_scheduling_policy(sched::edf());
    }
    app.strategy.emplace()
        .add_scenario(sched::SchedulingScenario{"first"})
        .add_scenario(std::move(other));
    app.switches = {{.at = random.time(1, 90), .scenario = "other"},
                    {.at = random.time(91, 150), .scenario = "first"}};
  }
  return app;
}

struct OracleCase {
  std::string policy;
  Rules rules;
};

class AgainstTheOracle : public testing::TestWithParam<OracleCase> {};

TEST_P(AgainstTheOracle, schedules_random_sets_alike) {
  Random random{21};
  int preempted = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Task> tasks = random_tasks(random, 8);
    // Deadlines and priorities as they are after inheritance: nothing to inherit here.
    const Schedule schedule = sim::schedule(application(tasks, GetParam().policy), 200ms);
    ASSERT_EQ(schedule.summary(), (Oracle{tasks, GetParam().rules}.run(200))) << "round " << round;
    preempted += schedule.result.cores[0].preemptions > 0 ? 1 : 0;
  }
  EXPECT_EQ(preempted > 100, GetParam().rules.preemptive);
}

INSTANTIATE_TEST_SUITE_P(Policies, AgainstTheOracle,
                         testing::Values(OracleCase{"fp", {}}, OracleCase{"edf", {.edf = true}},
                                         OracleCase{"np-fp", {.preemptive = false}},
                                         OracleCase{"np-edf", {.edf = true, .preemptive = false}}),
                         [](const auto& tested) {
                           std::string name = tested.param.policy;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Simulation, keeps_groups_apart_and_one_job_at_a_time_on_a_core) {
  Random random{22};
  for (int round = 0; round < 100; ++round) {
    const std::vector<Task> tasks = random_tasks(random, 8);
    for (const char* policy : {"fp", "edf", "np-edf"}) {
      const Schedule schedule = sim::schedule(application(tasks, policy), 150ms);
      for (std::size_t i = 1; i < schedule.pieces.size(); ++i) {
        ASSERT_LE(schedule.pieces[i - 1].to, schedule.pieces[i].from);
      }
      for (const Finished& a : schedule.finished) {
        for (const Finished& b : schedule.finished) {
          const std::string& group = tasks[a.id.first].group;
          const bool same = a.id != b.id && !group.empty() && group == tasks[b.id.first].group;
          ASSERT_FALSE(same && a.start < b.end && b.start < a.end) << policy << ", " << round;
        }
      }
    }
  }
}

TEST(Simulation, never_idles_while_a_job_waits_unless_the_policy_does) {
  Random random{23};
  for (int round = 0; round < 100; ++round) {
    const std::vector<Task> tasks = random_tasks(random, 6);
    for (const char* policy : {"fp", "edf", "np-fp"}) {
      const Schedule schedule = sim::schedule(application(tasks, policy), 150ms);
      std::map<JobId, TimePoint> ends;
      for (const Finished& job : schedule.finished) {
        ends[job.id] = job.end;
      }
      TimePoint idle_from{};
      for (const Piece& piece : schedule.pieces) {
        for (const auto& [id, release] : schedule.releases) {
          const bool over = ends.contains(id) && ends[id] <= idle_from;
          ASSERT_TRUE(over || std::max(release, idle_from) >= piece.from)
              << policy << ", round " << round;
        }
        idle_from = std::max(idle_from, piece.to);
      }
    }
  }
}

std::string text_of(const Result& result) {
  std::string text;
  for (const CallbackResult& callback : result.callbacks) {
    for (const std::uint64_t value :
         {callback.releases, callback.jobs, callback.skipped, callback.misses, callback.preemptions,
          callback.early_releases, callback.age_violations, callback.old_data, callback.overwritten,
          callback.budget_overruns}) {
      text += std::to_string(value) + " ";
    }
    text += std::to_string(callback.response.mean) + " " +
            std::to_string(callback.response.max.count()) + "\n";
  }
  return text;
}

TEST(Simulation, is_determined_by_its_seed) {
  Random random{24};
  int different = 0;
  for (int round = 0; round < 50; ++round) {
    const application::Application app = random_application(random);
    const auto run = [&](std::uint64_t seed) {
      return text_of(
          simulate(app, {.duration = 200ms, .seed = seed, .execution = ExecutionTimes::drawn}));
    };
    ASSERT_EQ(run(1), run(1));
    different += run(1) != run(2) ? 1 : 0;
  }
  EXPECT_GT(different, 45);
}

TEST(Simulation, draws_the_same_work_whatever_the_policy) {
  Random random{25};
  application::Application app = application(random_tasks(random, 8), "fp");
  for (application::Callback& callback : app.callbacks) {
    callback.execution.quantiles = {0ms, callback.execution.worst};
    callback.task.group.clear();
    callback.task.parameters.overrun = sched::Overrun::catch_up;
  }
  const auto durations = [](const Schedule& schedule) {
    std::map<JobId, nanoseconds> result;
    for (const trace::Event& event : schedule.trace.events) {
      if (event.type == trace::EventType::end) {
        result[{event.task, event.job}] = nanoseconds{event.value};
      }
    }
    return result;
  };
  const auto fp = durations(schedule(app, 500ms, {.execution = ExecutionTimes::drawn}));
  app.policy = "edf";
  const auto edf = durations(schedule(app, 500ms, {.execution = ExecutionTimes::drawn}));
  std::set<nanoseconds> values;
  for (const auto& [job, duration] : fp) {
    values.insert(duration);
    if (edf.contains(job)) {
      ASSERT_EQ(duration, edf.at(job));
    }
  }
  EXPECT_GT(values.size(), 20U);
}

// Everything that a trace can count is what the metrics say, and nothing is lost on the way.
TEST(Simulation, counts_in_its_metrics_what_stands_in_its_trace) {
  Random random{26};
  std::uint64_t misses = 0;
  std::uint64_t early = 0;
  std::uint64_t violations = 0;
  std::uint64_t skips = 0;
  std::uint64_t old = 0;
  for (int round = 0; round < 300; ++round) {
    const application::Application app = random_application(random);
    const Schedule schedule = sim::schedule(
        app, 200ms, {.execution = round % 2 == 0 ? ExecutionTimes::worst : ExecutionTimes::drawn});
    std::vector<std::map<trace::EventType, std::uint64_t>> counts(app.callbacks.size());
    std::vector<nanoseconds> worst(app.callbacks.size());
    nanoseconds busy{0};
    for (const trace::Event& event : schedule.trace.events) {
      if (event.task != trace::no_task) {
        counts[event.task][event.type] +=
            event.type == trace::EventType::skip ? static_cast<std::uint64_t>(event.value) : 1U;
      }
    }
    for (const Finished& job : schedule.finished) {
      worst[job.id.first] = std::max(worst[job.id.first], job.end - job.release);
      ASSERT_GE(job.start, job.release);
    }
    for (const Piece& piece : schedule.pieces) {
      busy += piece.to - piece.from;
    }
    for (std::size_t i = 0; i < app.callbacks.size(); ++i) {
      const CallbackResult& callback = schedule.result.callbacks[i];
      auto& count = counts[i];
      ASSERT_EQ(callback.releases,
                count[trace::EventType::release] + count[trace::EventType::skip]);
      ASSERT_EQ(callback.releases, callback.jobs + callback.skipped + callback.unfinished);
      ASSERT_EQ(callback.jobs, count[trace::EventType::end]);
      ASSERT_EQ(callback.skipped, count[trace::EventType::skip]);
      ASSERT_EQ(callback.misses, count[trace::EventType::deadline_miss]);
      ASSERT_EQ(callback.preemptions, count[trace::EventType::preempt]);
      ASSERT_EQ(callback.early_releases, count[trace::EventType::early_release]);
      ASSERT_EQ(callback.age_violations, count[trace::EventType::age_violation]);
      ASSERT_EQ(callback.budget_overruns, count[trace::EventType::budget_overrun]);
      ASSERT_EQ(callback.response.max, worst[i]);
      misses += callback.misses;
      early += callback.early_releases;
      violations += callback.age_violations;
      skips += callback.skipped;
      old += callback.old_data;
      if (app.callbacks[i].task.kind == sched::TaskKind::timer) {
        ASSERT_EQ(callback.old_data, 0U) << "what it reads is delivered first";
      }
    }
    nanoseconds cores_busy{0};
    for (const CoreResult& core : schedule.result.cores) {
      cores_busy += core.busy;
    }
    ASSERT_LE(busy, cores_busy);  // pieces of unfinished jobs are not in the timeline
  }
  EXPECT_GT(misses, 50U);
  EXPECT_GT(early, 50U);
  EXPECT_GT(violations, 50U);
  EXPECT_GT(skips, 50U);
  EXPECT_GT(old, 10U);
}

}  // namespace
}  // namespace takt::sim
