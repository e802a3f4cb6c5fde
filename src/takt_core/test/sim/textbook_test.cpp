// SPDX-License-Identifier: Apache-2.0
//
// Schedules that were worked out by hand, or printed in the literature.
#include "sim/schedule.hpp"

namespace takt::sim {
namespace {

using Summary = Schedule::Summary;

Task task(std::string name, nanoseconds period, nanoseconds execution, int priority,
          nanoseconds offset = 0ns, std::string group = {}) {
  Task result = timer(std::move(name), period, execution, priority);
  result.parameters.offset = offset;
  result.group = std::move(group);
  return result;
}

// Execution times 2 and 4, periods 5 and 7: utilization 0.97, above the bound of Liu & Layland 1973
// for two tasks, below 1 (the example of Buttazzo's textbook for rate-monotonic against EDF).
const std::vector<Task> buttazzo{task("1", 5ms, 2ms, 0), task("2", 7ms, 4ms, 0)};

TEST(Textbook, rate_monotonic_misses_a_deadline_at_utilization_0_97) {
  const Schedule schedule = sim::schedule(application(buttazzo, "rm"), 10ms);
  const Summary expected{{0, {0ms, 2ms}}, {0, {5ms, 7ms}}, {1, {2ms, 8ms}}};
  EXPECT_EQ(schedule.summary(), expected);
  EXPECT_EQ(schedule.result.misses, 1U);
  EXPECT_EQ(schedule.result.callbacks[1].misses, 1U);
  EXPECT_EQ(schedule.result.callbacks[1].preemptions, 1U);
}

TEST(Textbook, edf_meets_all_deadlines_at_utilization_0_97) {
  const Schedule schedule = sim::schedule(application(buttazzo, "edf"), 35ms);
  EXPECT_EQ(schedule.result.misses, 0U);
  EXPECT_EQ(schedule.result.jobs, 12U);
  Summary first = schedule.summary();
  first.resize(4);
  EXPECT_EQ(first, (Summary{{0, {0ms, 2ms}}, {1, {2ms, 6ms}}, {0, {6ms, 8ms}}, {1, {8ms, 12ms}}}));
  EXPECT_EQ(schedule.result.cores[0].busy, 34ms);
}

// Without preemption the long job blocks the short one for longer than that can bear.
TEST(Textbook, non_preemptive_fixed_priority_blocks_by_a_whole_job) {
  const std::vector<Task> tasks{task("short", 10ms, 2ms, 20, 1ms), task("long", 20ms, 9ms, 10)};
  const Schedule schedule = sim::schedule(application(tasks, "np-fp"), 20ms);
  EXPECT_EQ(schedule.summary(), (Summary{{1, {0ms, 9ms}}, {0, {9ms, 11ms}}, {0, {11ms, 13ms}}}));
  EXPECT_EQ(schedule.result.misses, 0U);
  EXPECT_EQ(schedule.result.callbacks[0].response.max, 10ms);
}

// Low holds the group from 0 to 4. At 1 high and middle are released. Both wait, middle behind the
// ceiling of a group that it is not in, until low has ended; low is blocked by nobody.
const std::vector<Task> sharing{
    task("low", 40ms, 4ms, 10, 0ms, "bus"), task("middle", 30ms, 2ms, 20, 1ms),
    task("high", 20ms, 3ms, 30, 1ms, "bus"), task("top", 10ms, 1ms, 40, 2ms)};

TEST(Textbook, immediate_ceiling_lets_only_what_is_above_it_preempt) {
  const Schedule schedule = sim::schedule(application(sharing, "fp"), 10ms);
  EXPECT_EQ(schedule.summary(),
            (Summary{{3, {2ms, 3ms}}, {0, {0ms, 5ms}}, {2, {5ms, 8ms}}, {1, {8ms, 10ms}}}));
}

// Baker 1991: levels of EDF are by relative deadline. The same picture, as the periods say.
TEST(Textbook, stack_resource_policy_under_edf_blocks_before_the_start) {
  const Schedule schedule = sim::schedule(application(sharing, "edf"), 10ms);
  EXPECT_EQ(schedule.summary(),
            (Summary{{3, {2ms, 3ms}}, {0, {0ms, 5ms}}, {2, {5ms, 8ms}}, {1, {8ms, 10ms}}}));
}

// Krukiewicz-Gacek 2021, Figs. 2.4 and 2.5: task 1 produces data, task 2 is in between, task 3
// works on the data of task 1; all have the same period, so all are released at once. A
// single-threaded executor runs task 3 before the data reaches it (Fig. 2.4); what is wanted is
// that it is delivered first (Fig. 2.5), which is what Takt does.
std::vector<Task> three_tasks() {
  std::vector<Task> tasks{task("1", 20ms, 3ms, 30), task("2", 20ms, 4ms, 20),
                          task("3", 20ms, 5ms, 10)};
  tasks[0].writes = {"data"};
  tasks[2].reads = {{.topic = "data"}};
  return tasks;
}

TEST(Textbook, figure_2_5_of_the_thesis_delivers_the_data_before_the_task_that_reads_it) {
  application::Application app = application(three_tasks(), "fp");
  app.topics.push_back({.name = "data"});
  app.overheads.deliver = 1ms;
  const Schedule schedule = sim::schedule(app, 40ms);
  EXPECT_EQ(schedule.summary(), (Summary{{0, {0ms, 3ms}},
                                         {1, {3ms, 7ms}},
                                         {2, {7ms, 13ms}},
                                         {0, {20ms, 23ms}},
                                         {1, {23ms, 27ms}},
                                         {2, {27ms, 33ms}}}));
  const CallbackResult& reader = callback(schedule.result, "3");
  EXPECT_EQ(reader.old_data, 0U);
  // Sampled with the release of task 1, used when task 3 starts.
  EXPECT_EQ(reader.sample_age.count, 2U);
  EXPECT_EQ(reader.sample_age.max, 7ms);
  EXPECT_EQ(reader.data_age.max, 4ms);  // made at the end of task 1
  int deliveries = 0;
  for (const trace::Event& event : schedule.trace.events) {
    if (event.type == trace::EventType::deliver) {
      ++deliveries;
      EXPECT_EQ(event.value, nanoseconds{7ms}.count());
      EXPECT_EQ(event.detail, 1);
      EXPECT_EQ(schedule.trace.topics.at(event.topic), "data");
    }
  }
  EXPECT_EQ(deliveries, 2);
}

// Nasri & Fohler 2016, Fig. 1, at 9 ms: task 3 would make task 1 late, so the core idles until 10.
TEST(Textbook, precautious_rm_idles_in_figure_1_of_nasri_and_fohler) {
  const std::vector<Task> tasks{task("1", 10ms, 1ms, 30), task("2", 30ms, 8ms, 20),
                                task("3", 60ms, 17ms, 10)};
  const Schedule schedule = sim::schedule(application(tasks, "p-rm"), 29ms);
  EXPECT_EQ(schedule.summary(), (Summary{{0, {0ms, 1ms}},
                                         {1, {1ms, 9ms}},
                                         {0, {10ms, 11ms}},
                                         {2, {11ms, 28ms}},
                                         {0, {28ms, 29ms}}}));
  EXPECT_EQ(sim::schedule(application(tasks, "p-rm"), 120ms).result.misses, 0U);
  EXPECT_GT(sim::schedule(application(tasks, "np-fp"), 120ms).result.misses, 0U);
}

// A job that overruns its period, under each policy for that.
TEST(Textbook, overruns_are_skipped_queued_or_caught_up) {
  for (const auto& [overrun, ends] :
       {std::pair{sched::Overrun::skip, std::vector{25ms, 55ms}},
        std::pair{sched::Overrun::queue_one, std::vector{25ms, 50ms}},
        std::pair{sched::Overrun::catch_up, std::vector{25ms, 50ms}}}) {
    std::vector<Task> tasks{task("late", 10ms, 10ms, 10)};
    tasks[0].parameters.overrun = overrun;
    application::Application app = application(tasks, "fp");
    app.callbacks[0].execution.worst = 25ms;  // for longer than was declared
    const Schedule schedule = sim::schedule(app, 59ms);
    ASSERT_EQ(schedule.finished.size(), 2U);
    EXPECT_EQ(schedule.finished[0].end, at(ends[0]));
    EXPECT_EQ(schedule.finished[1].end, at(ends[1]));
    const CallbackResult& late = schedule.result.callbacks[0];
    EXPECT_EQ(late.releases, late.jobs + late.skipped + late.unfinished);
    // Releases at 10 and 20 come during the first job, those at 30 and 40 during the second one.
    const std::uint64_t skipped = overrun == sched::Overrun::skip        ? 4U
                                  : overrun == sched::Overrun::queue_one ? 2U
                                                                         : 0U;
    EXPECT_EQ(late.skipped, skipped);
    EXPECT_EQ(late.misses, 2U + late.unfinished);  // which is late already
  }
}

}  // namespace
}  // namespace takt::sim
