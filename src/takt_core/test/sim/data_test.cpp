// SPDX-License-Identifier: Apache-2.0
//
// Messages: who they release, what of them is there when it is read, and how old it is.
#include "sim/schedule.hpp"
#include "takt/sched/error.hpp"

namespace takt::sim {
namespace {

Task writer(std::string name, nanoseconds period, nanoseconds execution, int priority,
            std::string topic) {
  Task task = timer(std::move(name), period, execution, priority);
  task.writes = {std::move(topic)};
  return task;
}

Task on_message(std::string name, std::string topic, nanoseconds execution, int priority,
                sched::Overrun overrun = sched::Overrun::skip) {
  Task task = sched::message(std::move(name), std::move(topic), priority);
  task.parameters.expected_execution = execution;
  task.parameters.deadline = 100ms;
  task.parameters.overrun = overrun;
  return task;
}

using Summary = Schedule::Summary;

TEST(Messages, release_their_reader_when_the_writer_has_computed) {
  const std::vector<Task> tasks{writer("w", 10ms, 2ms, 20, "t"), on_message("m", "t", 1ms, 30)};
  const Schedule schedule = sim::schedule(application(tasks, "fp"), 10ms);
  EXPECT_EQ(schedule.summary(), (Summary{{1, {2ms, 3ms}}, {0, {0ms, 3ms}}}));
  EXPECT_EQ(schedule.releases.at({1, 0}), at(2ms));
}

TEST(Messages, reach_another_core_at_once) {
  std::vector<Task> tasks{writer("w", 10ms, 2ms, 20, "t"), on_message("m", "t", 3ms, 30),
                          timer("busy", 10ms, 3ms, 40)};
  tasks[0].cpu = 0;
  tasks[1].cpu = 3;
  tasks[2].cpu = 3;
  for (const char* policy : {"fp", "np-edf"}) {
    application::Application app = application(tasks, policy);
    app.cpus = {0, 3};
    const Schedule schedule = sim::schedule(app, 10ms);
    EXPECT_EQ(schedule.summary(), (Summary{{0, {0ms, 2ms}}, {2, {0ms, 3ms}}, {1, {3ms, 6ms}}}));
    ASSERT_EQ(schedule.result.cores.size(), 2U);
    EXPECT_EQ(schedule.result.cores[0].busy, 2ms);
    EXPECT_EQ(schedule.result.cores[1].busy, 6ms);
    EXPECT_EQ(schedule.result.callbacks[1].cpu, 3);
  }
}

// Messages at 1, 4, 7, 10, …; the reader takes 5 ms for each.
application::Application overload(sched::Overrun overrun, std::size_t depth) {
  std::vector<Task> tasks{writer("w", 3ms, 1ms, 20, "t"), on_message("m", "t", 5ms, 30, overrun)};
  tasks[0].cpu = 0;
  tasks[1].cpu = 1;
  application::Application app = application(tasks, "fp");
  app.cpus = {0, 1};
  app.topics.push_back({.name = "t", .depth = depth});
  return app;
}

TEST(Messages, follow_the_overrun_policy_of_their_reader) {
  const auto starts = [](const Schedule& schedule) {
    std::vector<nanoseconds> times;
    for (const Finished& job : schedule.finished) {
      if (job.id.first == 1) times.push_back(job.start.time_since_epoch());
    }
    return times;
  };
  // Those at 4, 10 and 16 come while the reader runs.
  const Schedule skipping = sim::schedule(overload(sched::Overrun::skip, 4), 19ms);
  EXPECT_EQ(starts(skipping), (std::vector<nanoseconds>{1ms, 7ms, 13ms}));
  EXPECT_EQ(skipping.result.callbacks[1].skipped, 3U);
  const Schedule catching = sim::schedule(overload(sched::Overrun::catch_up, 4), 17ms);
  EXPECT_EQ(starts(catching), (std::vector<nanoseconds>{1ms, 6ms, 11ms}));
  EXPECT_EQ(catching.releases.at({1, 2}), at(7ms));
  EXPECT_EQ(catching.result.callbacks[1].skipped, 0U);
  // It works on the message of 4 although that of 7 … is there; at 6 there is only that of 4.
  EXPECT_EQ(catching.result.callbacks[1].old_data, 2U);
}

TEST(Messages, that_keep_last_overwrote_leave_their_reader_nothing_to_do) {
  const Schedule schedule = sim::schedule(overload(sched::Overrun::catch_up, 1), 15ms);
  const CallbackResult& reader = schedule.result.callbacks[1];
  // Its first job ends at 6, when the message of 4 waits. The second one ends at 11: that of 10 has
  // overwritten that of 7. The job that was released by that of 7 takes that of 10.
  EXPECT_EQ(reader.overwritten, 1U);
  EXPECT_EQ(reader.old_data, 0U);
  EXPECT_EQ(reader.lost_arrivals, 0U);
}

TEST(Messages, that_wait_without_end_are_lost_and_counted) {
  application::Application app = overload(sched::Overrun::catch_up, 1);
  app.callbacks[1].execution.worst = 30ms;
  const Result result = simulate(app, {.duration = 100ms});
  // Two may wait: 2 x the depth of the queue.
  EXPECT_GT(result.callbacks[1].lost_arrivals, 20U);
}

TEST(Messages, from_outside_come_every_period) {
  std::vector<Task> tasks{on_message("m", "t", 1ms, 30)};
  application::Application app = application(tasks, "fp");
  app.topics.push_back({.name = "t", .external = true, .external_period = 4ms});
  const Schedule schedule = sim::schedule(app, 12ms);
  EXPECT_EQ(schedule.summary(), (Summary{{0, {0ms, 1ms}}, {0, {4ms, 5ms}}, {0, {8ms, 9ms}}}));
}

TEST(Messages, that_are_read_are_there_even_if_published_at_that_very_moment) {
  std::vector<Task> tasks{writer("w", 10ms, 2ms, 20, "t"), timer("r", 10ms, 1ms, 30)};
  tasks[1].parameters.offset = 2ms;
  tasks[1].reads = {{.topic = "t"}};
  for (const std::vector<int>& cpus : {std::vector{0}, std::vector{0, 1}}) {
    application::Application app = application(tasks, "fp");
    app.cpus = cpus;
    app.callbacks[1].task.cpu = cpus.back();
    const Result result = simulate(app, {.duration = 100ms});
    EXPECT_EQ(result.callbacks[1].sample_age.count, 10U);
    EXPECT_EQ(result.callbacks[1].sample_age.min, 2ms);
    EXPECT_EQ(result.callbacks[1].sample_age.max, 2ms);
    EXPECT_EQ(result.callbacks[1].data_age.max, 0ms);  // made when it was used
  }
}

// A trace tells who made which message and who used it.
TEST(Messages, are_numbered_in_the_trace) {
  std::vector<Task> tasks{writer("w", 10ms, 2ms, 20, "t"), timer("r", 5ms, 1ms, 30),
                          on_message("m", "t", 1ms, 40)};
  tasks[1].reads = {{.topic = "t"}};
  const Schedule schedule = sim::schedule(application(tasks, "fp"), 20ms);
  std::vector<std::int64_t> published;
  std::map<TaskIndex, std::vector<std::int64_t>> used;
  for (const trace::Event& event : schedule.trace.events) {
    if (event.type == trace::EventType::publish) {
      EXPECT_EQ(event.task, 0);
      published.push_back(event.value);
    } else if (event.type == trace::EventType::use) {
      used[event.task].push_back(event.value);
    }
  }
  EXPECT_EQ(published, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(used[1], (std::vector<std::int64_t>{-1, 0, 0, 1}));
  EXPECT_EQ(used[2], (std::vector<std::int64_t>{0, 1}));
}

// The age counts from the release of the timer at the head: sampled at 0, on its way at 1 and 2.
TEST(DataAge, counts_from_the_release_of_the_timer_that_sampled) {
  std::vector<Task> tasks{writer("sensor", 20ms, 1ms, 40, "raw"),
                          on_message("filter", "raw", 1ms, 30), timer("control", 20ms, 1ms, 20)};
  tasks[1].writes = {"clean"};
  tasks[2].reads = {{.topic = "clean", .max_age = 6ms}};
  tasks[2].parameters.offset = 7ms;
  tasks[0].parameters.deadline = 2ms;
  tasks[1].parameters.deadline = 2ms;
  application::Application app = application(tasks, "fp");
  Result result = simulate(app, {.duration = 400ms});
  // Released early once, at 5, the sensor goes on from there: its data is there at 7, 27, …
  EXPECT_EQ(result.callbacks[0].early_releases, 1U);
  EXPECT_EQ(result.callbacks[2].sample_age.max, 2ms);
  app.callbacks[2].task.reads[0].max_age = 0ms;
  result = simulate(app, {.duration = 40ms});
  EXPECT_EQ(result.callbacks[2].sample_age.min, 7ms);
  EXPECT_EQ(result.callbacks[2].sample_age.max, 7ms);
  EXPECT_EQ(result.callbacks[0].early_releases, 0U);
}

// Its deadline is the release of its reader: it preempts who runs, though their periods are the
// same.
TEST(DataAge, a_source_that_is_released_early_preempts_a_job_of_the_same_relative_deadline) {
  std::vector<Task> tasks{writer("sensor", 20ms, 1ms, 1, "t"), timer("load", 20ms, 12ms, 2),
                          timer("control", 10ms, 1ms, 3)};
  tasks[1].parameters.offset = 4ms;
  tasks[2].parameters.offset = 1ms;
  tasks[2].reads = {{.topic = "t", .max_age = 8ms}};
  tasks[2].parameters.deadline = 2ms;
  tasks[0].cpu = tasks[1].cpu = 0;
  tasks[2].cpu = 1;
  application::Application app = application(tasks, "edf");
  app.cpus = {0, 1};
  const Result result = simulate(app, {.duration = 100ms});
  EXPECT_GT(result.callbacks[0].early_releases, 2U);
  EXPECT_LE(result.callbacks[0].response.max, 6ms);
  EXPECT_GT(result.callbacks[1].preemptions, 0U);
}

// As in table 5.14 of Krukiewicz-Gacek 2021: a reader every 100 ms of data that is produced about
// every 50 ms at the lowest priority, among others, and must not be older than 40 ms.
TEST(DataAge, is_kept_by_releasing_the_source_early_and_raising_its_priority) {
  for (const char* policy : {"fp", "edf", "np-fp"}) {
    std::vector<Task> tasks{timer("listener", 100ms, 5ms, 90), timer("load 1", 20ms, 4ms, 50),
                            timer("load 2", 50ms, 10ms, 40), writer("talker", 45ms, 5ms, 1, "t")};
    tasks[0].reads = {{.topic = "t", .max_age = 40ms}};
    tasks[0].parameters.offset = 33ms;
    const auto app = application(tasks, policy);
    const Result kept = simulate(app, {.duration = 10s});
    EXPECT_LE(kept.callbacks[0].sample_age.max, 40ms) << policy;
    EXPECT_GT(kept.callbacks[3].early_releases, 10U) << policy;
    // Only before there is any data at all.
    EXPECT_LE(kept.callbacks[0].age_violations, 1U) << policy;
    tasks[0].reads = {{.topic = "t"}};
    const Result watched = simulate(application(tasks, policy), {.duration = 10s});
    EXPECT_GT(watched.callbacks[0].sample_age.max, 30ms) << policy;
    EXPECT_EQ(watched.callbacks[3].early_releases, 0U) << policy;
  }
}

std::size_t count(const Schedule& schedule, trace::EventType type) {
  return static_cast<std::size_t>(
      std::ranges::count(schedule.trace.events, type, &trace::Event::type));
}

// A sample that is taken as soon as it is of use waits for everybody, and is done in time by
// itself.
TEST(DataAge, is_kept_at_the_sources_own_priority_where_the_core_is_idle_often_enough) {
  std::vector<Task> tasks{timer("listener", 100ms, 5ms, 90), timer("load", 20ms, 4ms, 50),
                          writer("talker", 50ms, 5ms, 1, "t")};
  tasks[0].reads = {{.topic = "t", .max_age = 40ms}};
  tasks[0].parameters.offset = 95ms;
  const Schedule schedule = sim::schedule(application(tasks, "fp"), 10s);
  EXPECT_EQ(schedule.result.callbacks[0].age_violations, 0U);
  EXPECT_LE(schedule.result.callbacks[0].sample_age.max, 40ms);
  EXPECT_EQ(count(schedule, trace::EventType::boost), 0U);
  EXPECT_LE(schedule.result.callbacks[1].response.max, 9ms);  // the listener's, and its own
}

// Between the two nobody else's job is held up for longer than the job that the reader needs, and
// the one that was under way; the source's others stay below.
TEST(DataAge, is_kept_by_boosting_only_what_the_reader_needs) {
  std::vector<Task> tasks{timer("listener", 100ms, 5ms, 90), timer("load", 20ms, 14ms, 50),
                          writer("talker", 50ms, 5ms, 1, "t")};
  tasks[0].reads = {{.topic = "t", .max_age = 15ms}};
  tasks[0].parameters.offset = 95ms;
  tasks[1].parameters.deadline = 40ms;
  tasks[1].parameters.overrun = sched::Overrun::catch_up;
  const Schedule schedule = sim::schedule(application(tasks, "fp"), 10s);
  EXPECT_EQ(schedule.result.callbacks[0].age_violations, 0U);
  EXPECT_LE(schedule.result.callbacks[0].sample_age.max, 15ms);
  const std::size_t boosts = count(schedule, trace::EventType::boost);
  EXPECT_GT(boosts, 50U);
  EXPECT_LE(boosts, 101U);  // one for each job of the listener
  EXPECT_LE(schedule.result.callbacks[1].response.max, 14ms + 5ms + 2 * 5ms);
}

// Also where a scenario of another policy exists, whose levels cannot be compared: what comes
// before all others by its boost is not kept out by the ceiling of a lower group.
TEST(DataAge, a_boosted_job_preempts_up_to_its_boosted_priority_whatever_other_scenarios_do) {
  std::vector<Task> tasks{timer("listener", 100ms, 5ms, 90), timer("load", 400ms, 300ms, 50),
                          writer("talker", 50ms, 1ms, 1, "t")};
  tasks[0].reads = {{.topic = "t", .max_age = 15ms}};
  tasks[0].parameters.offset = 95ms;
  tasks[1].group = "exclusive";
  application::Application app = application(tasks, "fp");
  app.strategy.emplace()
      .add_scenario(sched::SchedulingScenario{"first"})
      .add_scenario(
          sched::SchedulingScenario{"other"}.set_scheduling_policy(sched::non_preemptive_edf()));
  const Schedule schedule = sim::schedule(app, 10s);
  EXPECT_GT(count(schedule, trace::EventType::boost), 50U);
  EXPECT_LE(schedule.result.callbacks[0].sample_age.max, 15ms);
  EXPECT_LE(schedule.result.callbacks[0].response.max, 7ms);  // never the load's remainder
}

// Two readers ask, and the second request comes while a release of the source is remembered: it is
// that one which comes early, not one more.
TEST(DataAge, an_early_release_takes_the_place_of_a_remembered_one) {
  std::vector<Task> tasks{writer("source", 5ms, 100us, 98, "t"), timer("first", 10ms, 1ms, 97),
                          timer("second", 20ms, 1ms, 96)};
  tasks[0].parameters.overrun = sched::Overrun::queue_one;
  tasks[1].reads = {{.topic = "t", .max_age = 6ms}};
  tasks[2].reads = {{.topic = "t", .max_age = 5ms}};
  const Result result = simulate(application(tasks, "rm"), {.duration = 1s});
  EXPECT_LE(result.callbacks[2].response.max, 2300us);
}

// The request (39), the reader's release (40) and the regular one (49) come while another job runs,
// until 53. What came first counts: the regular one alone would come after the reader.
TEST(DataAge, is_kept_where_a_request_is_noticed_with_a_later_regular_release) {
  for (const char* policy : {"fp", "np-fp"}) {
    std::vector<Task> tasks{timer("reader", 20ms, 1ms, 50), writer("source", 30ms, 1ms, 1, "t"),
                            timer("long", 1s, 15ms, 90)};
    tasks[0].reads = {{.topic = "t", .max_age = 22ms}};
    tasks[2].parameters.offset = 38ms;
    const Result result = simulate(application(tasks, policy), {.duration = 1s});
    EXPECT_EQ(result.callbacks[0].age_violations, 0U) << policy;
    EXPECT_LE(result.callbacks[0].sample_age.max, 22ms) << policy;
  }
}

// Both requests, of 39 and 47, are noticed at 66 or later. The sample of the first is too old for
// the second reader, which starts at 68, the latest that its deadline allows.
TEST(DataAge, is_kept_for_the_second_of_two_readers_whose_requests_are_noticed_together) {
  std::vector<Task> tasks{timer("first", 20ms, 1ms, 50), timer("second", 24ms, 1ms, 50),
                          writer("source", 90ms, 1ms, 1, "t"), timer("long", 1s, 28ms, 90)};
  tasks[0].reads = {{.topic = "t", .max_age = 25ms}};
  tasks[1].reads = {{.topic = "t", .max_age = 25ms}};
  tasks[1].parameters.deadline = 21ms;
  tasks[3].parameters.offset = 38ms;
  const Result result = simulate(application(tasks, "fp"), {.duration = 1s});
  EXPECT_EQ(result.callbacks[1].age_violations, 0U);
}

// Each asks the other for data in time, and the third one itself.
TEST(DataAge, of_tasks_that_read_from_each_other_does_not_keep_them_asking) {
  for (const char* policy : {"fp", "edf"}) {
    std::vector<Task> tasks{writer("a", 20ms, 2ms, 30, "from a"),
                            writer("b", 30ms, 3ms, 20, "from b"),
                            writer("c", 10ms, 1ms, 10, "from c")};
    tasks[0].reads = {{.topic = "from b", .max_age = 15ms}};
    tasks[1].reads = {{.topic = "from a", .max_age = 10ms}};
    tasks[2].reads = {{.topic = "from c", .max_age = 5ms}};
    const Result result = simulate(application(tasks, policy), {.duration = 1s});
    EXPECT_GT(result.callbacks[0].early_releases + result.callbacks[1].early_releases, 0U);
    for (const CallbackResult& callback : result.callbacks) {
      EXPECT_GT(callback.jobs, 30U);
      EXPECT_LT(callback.jobs, 500U);
    }
  }
}

// Sensor every 10 ms, control every 15 ms: worked out by hand over a hyperperiod.
TEST(Chains, are_followed_from_the_release_of_the_first_to_the_end_of_the_last) {
  std::vector<Task> tasks{writer("sensor", 10ms, 1ms, 40, "raw"), timer("control", 15ms, 2ms, 20)};
  tasks[1].reads = {{.topic = "raw"}};
  application::Application app = application(tasks, "fp");
  app.chains.push_back({.name = "loop", .callbacks = {"sensor", "control"}, .max_latency = 7ms});
  const Result result = simulate(app, {.duration = 45ms});
  ASSERT_EQ(result.chains.size(), 1U);
  const ChainResult& chain = result.chains[0];
  // Ends: 3 (data of 0), 17 (of 10), 33 (of 30).
  EXPECT_EQ(chain.latency.count, 3U);
  EXPECT_EQ(chain.latency.min, 3ms);
  EXPECT_EQ(chain.latency.max, 7ms);
  EXPECT_EQ(chain.violations, 0U);
  EXPECT_EQ(chain.reaction.count, 2U);
  EXPECT_EQ(chain.reaction.max, 23ms);  // right after 10, seen by what ends at 33
  EXPECT_EQ(chain.age.count, 3U);
}

TEST(Chains, count_data_that_is_used_again_in_the_age_but_not_in_the_latency) {
  std::vector<Task> tasks{writer("sensor", 30ms, 1ms, 40, "raw"), timer("control", 10ms, 2ms, 20)};
  tasks[1].reads = {{.topic = "raw"}};
  application::Application app = application(tasks, "fp");
  app.chains.push_back({.name = "loop", .callbacks = {"sensor", "control"}, .max_latency = 2ms});
  const Result result = simulate(app, {.duration = 60ms});
  const ChainResult& chain = result.chains[0];
  EXPECT_EQ(chain.latency.count, 2U);
  EXPECT_EQ(chain.latency.max, 3ms);
  EXPECT_EQ(chain.violations, 2U);
  EXPECT_EQ(chain.age.count, 6U);
  EXPECT_EQ(chain.age.max, 22ms);  // that of 0 at the end of the third job
}

TEST(Chains, whose_callbacks_do_not_read_from_each_other_are_refused) {
  std::vector<Task> tasks{writer("sensor", 30ms, 1ms, 40, "raw"), timer("control", 10ms, 2ms, 20)};
  application::Application app = application(tasks, "fp");
  app.chains.push_back({.name = "loop", .callbacks = {"sensor", "control"}});
  EXPECT_NE(sched::error_of([&] { simulate(app); }).find("reads nothing that 'sensor' writes"),
            std::string::npos);
}

}  // namespace
}  // namespace takt::sim
