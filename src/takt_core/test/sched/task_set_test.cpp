// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/task_set.hpp"

#include <set>

#include "sched/support.hpp"

namespace takt::sched {
namespace {

std::string error_of_set(std::vector<Task> tasks, const PolicyPtr& policy = fixed_priority(),
                         const std::vector<std::string>& external = {}) {
  return error_of([&] { TaskSet(std::move(tasks), *policy, external); });
}

Task with(Task task, void (*change)(Task&)) {
  change(task);
  return task;
}

std::vector<int> priorities(const TaskSet& set) {
  std::vector<int> result;
  for (const Task& task : set.tasks()) {
    result.push_back(task.parameters.priority);
  }
  return result;
}

TEST(TaskSet, refuses_names_that_are_missing_or_given_twice) {
  EXPECT_EQ(error_of_set({timer("", 1ms, 0ns, 5)}),
            "task number 1: it has no name. Fix: give it a name of its own, such as "
            "'node.callback'.");
  EXPECT_EQ(
      error_of_set({timer("a", 1ms, 0ns, 5), timer("b", 1ms, 0ns, 5), timer("a", 2ms, 0ns, 6)}),
      "task 'a': another task has this name. Fix: give each task a name of its own, such "
      "as 'node.callback'.");
}

TEST(TaskSet, refuses_times_that_cannot_be) {
  EXPECT_EQ(error_of_set({timer("a", 0ms, 0ns, 5)}),
            "task 'a': it is a timer and its period is zero. Fix: give it a period above zero, "
            "or make it a message task.");
  EXPECT_EQ(error_of_set({timer("a", -1500us, 0ns, 5)}),
            "task 'a': its period is negative: -1.5 ms. Fix: give a time of 0 or more.");
  EXPECT_EQ(
      error_of_set({with(timer("a", 1ms, 0ns, 5), [](Task& t) { t.parameters.offset = -1ns; })}),
      "task 'a': its offset is negative: -1 ns. Fix: give a time of 0 or more.");
  EXPECT_EQ(
      error_of_set({with(timer("a", 1ms, 0ns, 5), [](Task& t) { t.parameters.deadline = -2s; })}),
      "task 'a': its deadline is negative: -2 s. Fix: give a time of 0 or more.");
  EXPECT_EQ(
      error_of_set({with(timer("a", 1ms, 0ns, 5), [](Task& t) { t.parameters.budget = -2us; })}),
      "task 'a': its budget is negative: -2 \u00b5s. Fix: give a time of 0 or more.");
  EXPECT_EQ(error_of_set({timer("a", 1ms, -1ms, 5)}),
            "task 'a': its expected execution time is negative: -1 ms. Fix: give a time of 0 or "
            "more.");
}

// That it misses its deadline is for the analysis to say.
TEST(TaskSet, takes_a_task_that_computes_for_longer_than_its_deadline) {
  EXPECT_EQ(error_of_set({timer("a", 1ms, 2ms, 5)}), "");
}

TEST(TaskSet, refuses_times_of_more_than_a_hundred_years) {
  for (const nanoseconds time : {longest_time + 1ns, nanoseconds::max()}) {
    for (const auto& [name, member] : {std::pair{"period", &TaskParameters::period},
                                       std::pair{"offset", &TaskParameters::offset},
                                       std::pair{"deadline", &TaskParameters::deadline}}) {
      Task task = timer("a", 1ms, 0ns, 5);
      task.parameters.*member = time;
      EXPECT_EQ(error_of_set({task}),
                "task 'a': its " + std::string{name} +
                    " is above 100 years. Fix: give a time of at most 100 years; a task that "
                    "shall never run is made inactive.");
      task.parameters.*member = longest_time;
      EXPECT_EQ(error_of_set({task}), "");
    }
  }
}

TEST(TaskSet, refuses_priorities_outside_of_1_to_98) {
  for (const int priority : {-1, 99, 1000}) {
    EXPECT_EQ(error_of_set({timer("a", 1ms, 0ns, priority)}),
              "task 'a': its priority " + std::to_string(priority) +
                  " is outside of 1..98. Fix: choose 1 (lowest) to 98 (highest); 99 is left to "
                  "the kernel.");
  }
  EXPECT_EQ(error_of_set({timer("a", 1ms, 0ns, 1), timer("b", 1ms, 0ns, 98)}), "");
}

TEST(TaskSet, refuses_triggers_that_do_not_fit_the_kind) {
  EXPECT_EQ(error_of_set({message("a", "", 5)}),
            "task 'a': it is released by messages, but has no trigger. Fix: name the topic that "
            "releases it, or make it a timer.");
  EXPECT_EQ(error_of_set({with(timer("a", 1ms, 0ns, 5), [](Task& t) { t.trigger = "scan"; })}),
            "task 'a': it is a timer, but has the trigger 'scan'. Fix: make it a message task, "
            "or put the topic among those that it reads.");
}

TEST(TaskSet, refuses_topics_that_nobody_writes_unless_they_are_external) {
  const Task reader = with(timer("r", 1ms, 0ns, 5), [](Task& t) { t.reads = {{.topic = "scan"}}; });
  const Task writer = with(timer("w", 1ms, 0ns, 5), [](Task& t) { t.writes = {"scam"}; });
  const std::string keys =
      " (external_period of the topic in an app.yaml, external_topics of an executor).";
  EXPECT_EQ(error_of_set({reader}),
            "task 'r': it reads topic 'scan', which no task writes. Fix: name the topic among "
            "the writes of the task that publishes it, or declare it external" +
                keys);
  EXPECT_EQ(error_of_set({reader, writer}),
            "task 'r': it reads topic 'scan', which no task writes. Fix: did you mean 'scam'? "
            "Else name the topic among the writes of the task that publishes it, or declare it "
            "external" +
                keys);
  EXPECT_EQ(error_of_set({message("m", "scan", 5)}),
            "task 'm': it is released by topic 'scan', which no task writes. Fix: name the "
            "topic among the writes of the task that publishes it, or declare it external" +
                keys);
  EXPECT_EQ(error_of_set({reader, message("m", "scan", 5)}, fixed_priority(), {"scan"}), "");
}

TEST(TaskSet, refuses_a_topic_that_is_read_twice_or_with_a_negative_age) {
  EXPECT_EQ(error_of_set({with(timer("r", 1ms, 0ns, 5),
                               [](Task& t) { t.reads = {{.topic = "x"}, {.topic = "x"}}; })}),
            "task 'r': it reads topic 'x' twice. Fix: name each topic once.");
  EXPECT_EQ(error_of_set({with(timer("r", 1ms, 0ns, 5),
                               [](Task& t) { t.reads = {{.topic = "x", .max_age = -1ms}}; })}),
            "task 'r': its maximum age of topic 'x' is negative: -1 ms. Fix: give a time of 0 "
            "or more.");
}

TEST(TaskSet, asks_for_priorities_where_the_policy_needs_them) {
  for (const PolicyPtr& policy : {fixed_priority(), non_preemptive_fixed_priority()}) {
    const std::string name{policy->name()};
    EXPECT_EQ(error_of_set({timer("a", 1ms)}, policy),
              "task 'a': policy '" + name +
                  "' needs a priority, and it has none. Fix: give it a priority of 1..98 (98 "
                  "highest), or take a policy that needs none: 'rm', 'dm' or 'edf'.");
  }
  // These make them themselves, whatever was declared.
  Task message_task = message("m", "x");
  message_task.parameters.priority = 7;
  for (const PolicyPtr& policy : {rate_monotonic(), deadline_monotonic()}) {
    const std::string name{policy->name()};
    EXPECT_EQ(error_of_set({message_task}, policy, {"x"}),
              "task 'm': policy '" + name +
                  "' needs a period, from which it makes priorities, and it has none, and no task "
                  "from which it could take one reads its topic 'x'. Fix: give it a period, the "
                  "shortest time between two "
                  "of its releases (under 'dm' a deadline does, too).");
  }
  Task paced = message("m", "x");
  paced.parameters.period = 10ms;
  EXPECT_EQ(error_of_set({paced}, rate_monotonic(), {"x"}), "");
  Task due = message("m", "x");
  due.parameters.deadline = 10ms;
  EXPECT_EQ(error_of_set({due}, deadline_monotonic(), {"x"}), "");
  EXPECT_EQ(error_of_set({timer("a", 1ms)}, edf()), "");
}

TEST(TaskSet, refuses_tasks_that_wait_where_no_rule_says_who_runs_meanwhile) {
  const Task waits = with(timer("a", 10ms, 1ms, 5), [](Task& t) { t.waits = true; });
  const std::set<std::string_view> allow{"fp", "rm", "dm"};
  for (const std::string_view name : policy_names()) {
    const std::string expected =
        allow.contains(name)
            ? ""
            : "task 'a': it waits inside of its jobs, for which policy '" + std::string{name} +
                  "' has no rule. Fix: use a policy of fixed priorities ('fp', 'rm' or 'dm') in "
                  "every scenario, or do not say that it waits: then its waiting is execution "
                  "time.";
    EXPECT_EQ(error_of_set({waits}, parse_policy(name)), expected) << name;
    if (!expected.empty()) {
      EXPECT_EQ(error_of_set({with(waits, [](Task& t) { t.group = "own"; })}, parse_policy(name)),
                expected);
    }
  }
  EXPECT_EQ(error_of_set({with(waits, [](Task& t) { t.group = "hardware"; })}),
            "task 'a': it waits inside of its jobs, and would keep the exclusive group 'hardware' "
            "meanwhile. Fix: take it out of the group, or do not say that it waits: then its "
            "waiting is execution time.");
}

TEST(TaskSet, takes_messages_without_a_deadline_wherever_priorities_do_not_decide) {
  for (const PolicyPtr& policy : {edf(), non_preemptive_edf(), cw_edf()}) {
    Task task = message("m", "x");
    task.parameters.expected_execution = 1ms;
    EXPECT_EQ(error_of_set({task}, policy, {"x"}), "") << policy->name();
  }
}

TEST(TaskSet, refuses_deadlines_above_periods_exactly_where_the_policy_forbids_them) {
  const Task late = with(timer("a", 10ms, 1ms, 5), [](Task& t) { t.parameters.deadline = 11ms; });
  const std::set<std::string_view> forbid{"dm", "p-rm", "cw-edf"};
  for (const std::string_view name : policy_names()) {
    const std::string expected =
        forbid.contains(name)
            ? "task 'a': its deadline 11 ms is above its period 10 ms, which policy '" +
                  std::string{name} +
                  "' does not allow. Fix: lower the deadline, or use 'fp' or 'edf'."
            : "";
    EXPECT_EQ(error_of_set({late}, parse_policy(name)), expected) << name;
  }
}

TEST(TaskSet, asks_for_execution_times_where_the_policy_looks_ahead) {
  for (const PolicyPtr& policy : {precautious_rm(), cw_edf()}) {
    EXPECT_EQ(error_of_set({timer("a", 10ms, 1ms), timer("b", 20ms)}, policy),
              "task 'b': policy '" + std::string{policy->name()} +
                  "' needs the expected execution time, and it has none. Fix: give it an "
                  "expected_execution (its worst case), or use a policy that never idles on "
                  "purpose: 'np-fp' or 'np-edf'.");
  }
}

TEST(TaskSet, refuses_precautious_rm_over_a_shortest_period_that_cannot_be_foreseen) {
  Task fast = message("m", "x");
  fast.parameters.period = 5ms;
  fast.parameters.expected_execution = 1ms;
  EXPECT_EQ(error_of_set({timer("a", 10ms, 1ms), fast}, precautious_rm(), {"x"}),
            "task 'm': it has the shortest period, but policy 'p-rm' must know the next release of "
            "that task, and this one is released by messages. Fix: give it a longer period, make "
            "it a timer, or use 'np-edf'.");
  fast.parameters.period = 10ms;
  EXPECT_EQ(error_of_set({timer("a", 10ms, 1ms), fast}, precautious_rm(), {"x"}), "");
}

TEST(TaskSet, assigns_rate_monotonic_priorities_from_98_downwards) {
  const TaskSet set{{timer("slow", 50ms, 0ns, 98), timer("fast", 5ms, 0ns, 1), timer("also", 5ms),
                     timer("middle", 20ms)},
                    *rate_monotonic()};
  EXPECT_EQ(priorities(set), (std::vector<int>{96, 98, 98, 97}));
}

TEST(TaskSet, assigns_deadline_monotonic_priorities_by_relative_deadline) {
  const TaskSet set{
      {timer("a", 5ms), with(timer("b", 50ms), [](Task& t) { t.parameters.deadline = 2ms; })},
      *deadline_monotonic()};
  EXPECT_EQ(priorities(set), (std::vector<int>{97, 98}));
}

TEST(TaskSet, assigns_priorities_in_the_order_of_any_periods) {
  Random random{21};
  for (int round = 0; round < 500; ++round) {
    std::vector<Task> tasks;
    for (int i = random.number(1, 98); i > 0; --i) {
      tasks.push_back(timer(std::to_string(i), random.time(1, 60)));
    }
    const TaskSet set{tasks, *rate_monotonic()};
    for (const Task& a : set.tasks()) {
      ASSERT_GE(a.parameters.priority, 1);
      ASSERT_LE(a.parameters.priority, 98);
      for (const Task& b : set.tasks()) {
        ASSERT_EQ(
            a.parameters.period<b.parameters.period, a.parameters.priority> b.parameters.priority);
      }
    }
  }
}

TEST(TaskSet, accepts_98_distinct_periods_and_refuses_99) {
  std::vector<Task> tasks;
  for (int i = 1; i <= 98; ++i) {
    tasks.push_back(timer(std::to_string(i), std::chrono::milliseconds{i}));
  }
  EXPECT_EQ(error_of_set(tasks, rate_monotonic()), "");
  EXPECT_EQ(TaskSet(tasks, *rate_monotonic()).tasks().back().parameters.priority, 1);
  tasks.push_back(timer("one more", 99ms));
  EXPECT_EQ(error_of_set(tasks, rate_monotonic()),
            "policy 'rm': the tasks have 99 different periods or deadlines, but there are only 98 "
            "priorities. Fix: make some of them equal, spread the tasks over several executors, "
            "or use 'edf', which needs no priorities.");
}

TEST(TaskSet, gives_message_tasks_the_highest_priority_of_their_readers) {
  const auto reads = [](Task task, std::string topic) {
    task.reads.push_back({.topic = std::move(topic)});
    return task;
  };
  // "relay" reads what "inner" delivers and is itself only read by the timer: two steps.
  const TaskSet set{{message("inner", "a"), reads(message("relay", "b"), "a"),
                     reads(timer("low", 9ms, 0ns, 20), "b"),
                     reads(timer("high", 9ms, 0ns, 60), "b"), message("own", "b", 7)},
                    *fixed_priority(),
                    std::vector<std::string>{"a", "b"}};
  EXPECT_EQ(priorities(set), (std::vector<int>{60, 60, 20, 60, 7}));
}

TEST(TaskSet, gives_message_tasks_the_shortest_deadline_of_their_readers_under_edf) {
  std::vector<Task> tasks{message("m", "x"), timer("slow", 50ms), timer("fast", 8ms)};
  tasks[1].reads = {{.topic = "x"}};
  tasks[2].reads = {{.topic = "x"}};
  const TaskSet set{tasks, *edf(), std::vector<std::string>{"x"}};
  EXPECT_EQ(set.tasks()[0].parameters.deadline, 8ms);
}

TEST(TaskSet, finds_tasks_by_name) {
  const TaskSet set{{timer("a", 1ms, 0ns, 1), timer("b", 1ms, 0ns, 1)}, *fixed_priority()};
  EXPECT_EQ(set.find("b"), TaskIndex{1});
  EXPECT_EQ(set.find("c"), std::nullopt);
}

}  // namespace
}  // namespace takt::sched
