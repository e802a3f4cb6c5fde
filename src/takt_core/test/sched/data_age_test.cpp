// SPDX-License-Identifier: Apache-2.0
#include "sched/support.hpp"

namespace takt::sched {
namespace {

Task writes(Task task, std::string topic) {
  task.writes.push_back(std::move(topic));
  return task;
}

Task reads(Task task, std::string topic, nanoseconds max_age) {
  task.reads.push_back({.topic = std::move(topic), .max_age = max_age});
  return task;
}

TEST(DataAge, is_bounded_by_the_writers_period_and_deadline) {
  for (const auto& [max_age, early] : {std::pair{15ms, false}, std::pair{14ms, true}}) {
    Task writer = writes(timer("w", 10ms, 2ms, 10), "scan");
    writer.parameters.deadline = 5ms;
    const TaskSet set{{writer, reads(timer("r", 20ms, 1ms, 50), "scan", max_age)},
                      *fixed_priority()};
    ASSERT_EQ(set.age_constraints().size(), 1U);
    const AgeConstraint& age = set.age_constraints().front();
    EXPECT_EQ(age.reader, 1U);
    EXPECT_EQ(age.topic, "scan");
    EXPECT_EQ(age.source, TaskIndex{0});
    EXPECT_EQ(age.youngest, 2ms);
    EXPECT_EQ(age.oldest, 15ms);
    EXPECT_EQ(age.needs_early_release(), early);
  }
}

TEST(DataAge, raises_those_jobs_of_the_source_that_the_reader_needs_and_never_lowers_them) {
  for (const int priority : {10, 90}) {
    const TaskSet set{{writes(timer("w", 10ms, 2ms, priority), "a"), timer("other", 10ms, 1ms, 10),
                       reads(timer("r", 20ms, 1ms, 50), "a", 15ms)},
                      *fixed_priority()};
    EXPECT_EQ(set.tasks()[0].parameters.priority, priority);
    EXPECT_EQ(highest_priority_of(set.tasks()[0].parameters), std::max(50, priority));
    EXPECT_EQ(set.tasks()[1].parameters.boosted_priority, 0);
    EXPECT_EQ(set.tasks()[2].parameters.boosted_priority, 0);
  }
}

TEST(DataAge, raises_nobody_where_the_deadlines_keep_it) {
  const TaskSet set{
      {writes(timer("w", 10ms, 2ms, 10), "a"), reads(timer("r", 20ms, 1ms, 50), "a", 20ms)},
      *fixed_priority()};
  EXPECT_EQ(set.tasks()[0].parameters.priority, 10);
  EXPECT_EQ(set.tasks()[0].parameters.boosted_priority, 0);
}

TEST(DataAge, leaves_writers_alone_where_no_age_is_limited) {
  const TaskSet set{
      {writes(timer("w", 10ms, 2ms, 10), "a"), reads(timer("r", 20ms, 1ms, 50), "a", 0ms)},
      *fixed_priority()};
  EXPECT_TRUE(set.age_constraints().empty());
  EXPECT_EQ(set.tasks()[0].parameters.priority, 10);
}

TEST(DataAge, goes_upstream_over_message_tasks_to_the_timer_that_samples) {
  Task filter = writes(message("filter", "raw", 5), "clean");
  filter.parameters.expected_execution = 3ms;
  filter.parameters.deadline = 6ms;
  const TaskSet set{{writes(timer("sensor", 10ms, 2ms, 10), "raw"), filter,
                     reads(timer("r", 20ms, 1ms, 50), "clean", 12ms)},
                    *fixed_priority()};
  const AgeConstraint& age = set.age_constraints().front();
  EXPECT_EQ(age.source, TaskIndex{0});
  EXPECT_EQ(age.youngest, 5ms);
  EXPECT_EQ(age.oldest, 26ms);
  EXPECT_EQ(set.tasks()[0].parameters.priority, 10);
  EXPECT_EQ(set.tasks()[0].parameters.boosted_priority, 50);
  EXPECT_EQ(set.tasks()[1].parameters.priority, 50);
}

TEST(DataAge, is_inherited_from_reader_to_reader) {
  const TaskSet set{{writes(timer("first", 10ms, 1ms, 10), "a"),
                     reads(writes(timer("second", 10ms, 1ms, 20), "b"), "a", 15ms),
                     reads(timer("third", 10ms, 1ms, 70), "b", 15ms)},
                    *fixed_priority()};
  EXPECT_EQ(set.tasks()[0].parameters.boosted_priority, 70);
  EXPECT_EQ(set.tasks()[1].parameters.boosted_priority, 70);
}

TEST(DataAge, takes_the_writer_that_can_deliver_soonest) {
  const TaskSet set{
      {writes(timer("slow", 10ms, 4ms, 10), "a"), writes(timer("quick", 50ms, 1ms, 10), "a"),
       reads(timer("r", 20ms, 1ms, 50), "a", 3ms)},
      *fixed_priority()};
  EXPECT_EQ(set.age_constraints().front().source, TaskIndex{1});
}

// The load and two jobs of the source may come before the reader, and a tenth of the age is for
// what nobody declares.
TEST(DataAge, knows_when_the_reader_starts_from_what_may_come_before_it) {
  const auto latest_start = [](Task load, const PolicyPtr& policy = fixed_priority()) {
    return TaskSet{{std::move(load), writes(timer("w", 50ms, 2ms, 10), "a"),
                    reads(timer("r", 100ms, 1ms, 50), "a", 40ms)},
                   *policy}
        .age_constraints()
        .front()
        .latest_start;
  };
  EXPECT_EQ(latest_start(timer("load", 20ms, 4ms, 90)), 4ms + 2 * 2ms + 4ms);
  EXPECT_EQ(latest_start(timer("load", 20ms, 4ms, 40)), 2 * 2ms + 4ms);
  // Its deadline alone, where somebody declares nothing, or it is not known to end.
  EXPECT_EQ(latest_start(timer("load", 20ms, 0ms, 90)), 99ms);
  EXPECT_EQ(latest_start(timer("load", 20ms, 20ms, 90)), 99ms);
  EXPECT_EQ(latest_start(timer("load", 20ms, 4ms, 90), edf()), 99ms);
}

// A fixpoint that would be looked for until the end of the century, with sums beyond all times.
TEST(DataAge, of_a_reader_that_may_wait_for_a_century_is_found_at_once) {
  for (const nanoseconds execution : {nanoseconds{1}, nanoseconds{longest_time}}) {
    Task load = timer("load", 1ns, execution, 90);
    load.parameters.deadline = longest_time;
    Task reader = reads(timer("r", longest_time, 1ms, 50), "a", 40ms);
    const TaskSet set{{load, writes(timer("w", 50ms, 2ms, 10), "a"), reader}, *fixed_priority()};
    EXPECT_EQ(set.age_constraints().front().latest_start, longest_time - 1ms);
  }
}

TEST(DataAge, below_the_time_that_the_data_takes_is_refused) {
  EXPECT_EQ(error_of([] {
              TaskSet({writes(timer("w", 10ms, 2500us, 10), "scan"),
                       reads(timer("r", 20ms, 1ms, 50), "scan", 2ms)},
                      *fixed_priority());
            }),
            "task 'r': it allows topic 'scan' an age of 2 ms, but the data takes at least 2.5 ms "
            "from task 'w'. Fix: allow more age, or make the callbacks that produce the data "
            "shorter.");
  Task filter = writes(message("filter", "raw", 5), "clean");
  filter.parameters.expected_execution = 3ms;
  EXPECT_EQ(error_of([&] {
              TaskSet({writes(timer("sensor", 10ms, 2ms, 10), "raw"), filter,
                       reads(timer("r", 20ms, 1ms, 50), "clean", 4ms)},
                      *fixed_priority());
            }),
            "task 'r': it allows topic 'clean' an age of 4 ms, but the data takes at least 5 ms "
            "from task 'sensor' over task 'filter'. Fix: allow more age, or make the callbacks "
            "that produce the data shorter.");
}

TEST(DataAge, of_external_data_is_watched_without_a_source) {
  const TaskSet set{{reads(timer("r", 20ms, 1ms, 50), "gps", 4ms)},
                    *fixed_priority(),
                    std::vector<std::string>{"gps"}};
  ASSERT_EQ(set.age_constraints().size(), 1U);
  EXPECT_FALSE(set.age_constraints().front().source.has_value());
  EXPECT_FALSE(set.age_constraints().front().needs_early_release());
}

TEST(DataAge, ends_its_search_in_a_circle_of_topics) {
  const TaskSet set{{writes(message("ping", "a", 5), "b"), writes(message("pong", "b", 6), "a"),
                     reads(timer("r", 20ms, 1ms, 50), "a", 4ms)},
                    *fixed_priority()};
  EXPECT_FALSE(set.age_constraints().front().source.has_value());
  EXPECT_EQ(set.tasks()[0].parameters.priority, 50);
}

}  // namespace
}  // namespace takt::sched
