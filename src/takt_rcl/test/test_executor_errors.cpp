// SPDX-License-Identifier: Apache-2.0
//
// Every refusal says which task, what is wrong and what to do, before anything spins.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <takt_interfaces/msg/sample.hpp>

#include "executor_support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;

class ExecutorErrors : public testing::Test {
 protected:
  std::shared_ptr<Timer> timer() {
    return node.create_timer(10ms, [] {});
  }
  auto subscription() {
    return node.create_subscription<Sample>(topic, QoS{1}, [](const Sample&) {});
  }

  Context context;
  Node node{context, "guard"};
  std::string topic = unique_topic("errors");
  SchedulingExecutor executor{quiet()};
};

void expect_text(const std::string& message, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << '"' << message << "\" lacks " << part;
  }
}

TEST_F(ExecutorErrors, two_tasks_of_one_name) {
  executor.add(timer(), {.name = "brake", .priority = 1});
  expect_text(
      message_of<ScheduleError>([&] { executor.add(timer(), {.name = "brake", .priority = 2}); }),
      {"task 'brake'", "another task has this name", "Fix"});
}

TEST_F(ExecutorErrors, a_callback_that_is_added_twice) {
  const auto twice = timer();
  executor.add(twice, {.name = "one", .priority = 1});
  expect_text(message_of<ScheduleError>([&] { executor.add(twice, {.name = "two"}); }),
              {"task 'two'", "its timer is task 'one' already"});
  const auto in = subscription();
  executor.add(in, {.name = "three", .priority = 1});
  expect_text(message_of<ScheduleError>([&] { executor.add(in, {.name = "four"}); }),
              {"task 'four'", "its subscription is task 'three' already"});
  executor.start();
  executor.remove("one").wait();
  executor.add(twice, {.name = "two", .priority = 1});
}

TEST_F(ExecutorErrors, a_priority_out_of_range) {
  for (const int priority : {-1, 99}) {
    SchedulingExecutor one{quiet()};
    one.add(timer(), {.name = "brake", .priority = priority});
    expect_text(message_of<ScheduleError>([&] { one.start(); }),
                {"task 'brake'", "priority " + std::to_string(priority), "1..98"});
  }
}

TEST_F(ExecutorErrors, fixed_priorities_without_a_priority) {
  executor.add(timer(), {.name = "brake"});
  expect_text(message_of<ScheduleError>([&] { executor.start(); }), {"task 'brake'", "priority"});
}

TEST_F(ExecutorErrors, a_scenario_that_reads_an_unknown_topic) {
  executor.add(timer(), {.name = "brake", .priority = 1});
  SchedulingScenario scenario{"docking"};
  scenario.add_timer("brake", 10, 10ms, {.subscribes = {"scam"}});
  SchedulingStrategy strategy;
  strategy.add_scenario(scenario);
  executor.set_scheduling_strategy(strategy);
  expect_text(message_of<ScheduleError>([&] { executor.start(); }),
              {"task 'brake'", "'/scam'", "no task writes"});
}

TEST_F(ExecutorErrors, a_scenario_for_an_unknown_task_names_the_nearest) {
  executor.add(timer(), {.name = "brake", .priority = 1});
  SchedulingScenario scenario{"docking"};
  scenario.add_timer("break", 10, 10ms);
  SchedulingStrategy strategy;
  strategy.add_scenario(scenario);
  executor.set_scheduling_strategy(strategy);
  expect_text(message_of<ScheduleError>([&] { executor.start(); }), {"'break'", "'brake'"});
}

TEST_F(ExecutorErrors, a_scenario_may_name_a_topic_without_its_slash) {
  const auto in = node.create_subscription<Sample>(topic, QoS{1});
  executor.add(timer(), {.name = "reader", .priority = 1, .reads = {in}});
  executor.add(timer(), {.name = "brake", .priority = 1});
  SchedulingScenario scenario{"docking"};
  scenario.add_timer("brake", 10, 10ms, {.subscribes = {topic}});
  SchedulingStrategy strategy;
  strategy.add_scenario(scenario);
  executor.set_scheduling_strategy(strategy);
  executor.start();
}

TEST_F(ExecutorErrors, a_subscription_without_callback_as_a_task) {
  const auto in = node.create_subscription<Sample>(topic, QoS{1});
  expect_text(message_of<ScheduleError>([&] { executor.add(in, {.priority = 1}); }),
              {"task 'guard." + topic + "'", "no callback", "reads"});
}

TEST_F(ExecutorErrors, a_subscription_of_another_executor) {
  const auto in = subscription();
  executor.add(in, {.priority = 1});
  SchedulingExecutor other{quiet()};
  expect_text(message_of<std::logic_error>([&] { other.add(in, {.priority = 1}); }),
              {topic, "another executor"});
  expect_text(message_of<std::logic_error>(
                  [&] { in->set_on_new_message_callback([](std::size_t) noexcept {}); }),
              {topic, "an executor has this subscription"});
}

TEST_F(ExecutorErrors, a_timer_of_another_executor_until_that_one_ends) {
  const auto shared = timer();
  executor.add(timer(), {.priority = 1});
  {
    SchedulingExecutor other{quiet()};
    other.add(shared, {.priority = 1});
    other.start();
    expect_text(message_of<std::logic_error>([&] { executor.add(shared, {.priority = 1}); }),
                {"'guard.timer1'", "another executor"});
  }
  executor.add(shared, {.priority = 1});
  executor.start();
}

TEST_F(ExecutorErrors, a_refused_task_leaves_its_subscription_free) {
  const auto in = subscription();
  executor.add(timer(), {.name = "first", .priority = 1});
  executor.start();
  EXPECT_THROW(executor.add(in, {.name = "first", .priority = 1}), ScheduleError);
  in->set_on_new_message_callback([](std::size_t) noexcept {});  // would throw while claimed
}

// The reader runs the callback on its own thread, so it must be in the callback's group; whichever
// of the two is added first.
TEST_F(ExecutorErrors, reading_a_callback_of_a_group_from_outside_of_it) {
  const auto in = subscription();
  const auto refused = [&](SchedulingExecutor& in_executor, const auto& add_last) {
    expect_text(message_of<ScheduleError>(add_last),
                {"task 'brake'", topic, "task 'map'", "exclusive group 'grid'", "one group"});
    in_executor.start();  // the refused one has left no trace
  };
  {
    SchedulingExecutor one{quiet()};
    one.add(in, {.name = "map", .priority = 1, .group = "grid"});
    refused(one, [&] { one.add(timer(), {.name = "brake", .priority = 2, .reads = {in}}); });
  }
  {
    SchedulingExecutor one{quiet()};
    one.add(timer(), {.name = "brake", .priority = 2, .reads = {in}, .group = "other"});
    refused(one, [&] { one.add(in, {.name = "map", .priority = 1, .group = "grid"}); });
  }
  executor.add(in, {.name = "map", .priority = 1, .group = "grid"});
  executor.add(timer(), {.name = "brake", .priority = 2, .reads = {in}, .group = "grid"});
  executor.start();
}

TEST_F(ExecutorErrors, options_that_would_do_nothing) {
  expect_text(message_of<ScheduleError>(
                  [&] { executor.add(timer(), {.name = "brake", .priority = 1, .max_age = 5ms}); }),
              {"task 'brake'", "max_age", ".reads"});
  expect_text(message_of<ScheduleError>(
                  [&] { executor.add(timer(), {.name = "brake", .priority = 1, .period = 5ms}); }),
              {"task 'brake'", "another period than its timer"});
  expect_text(message_of<ScheduleError>([&] {
                executor.add(subscription(), {.name = "scan", .priority = 1, .offset = 5ms});
              }),
              {"task 'scan'", "offset", "messages release it"});
}

TEST_F(ExecutorErrors, null_pointers) {
  EXPECT_THROW(executor.add(std::shared_ptr<Timer>{}), std::invalid_argument);
  EXPECT_THROW(executor.add(std::shared_ptr<SubscriptionBase>{}), std::invalid_argument);
  expect_text(message_of<ScheduleError>([&] {
                executor.add(timer(),
                             {.name = "brake", .reads = {std::shared_ptr<SubscriptionBase>{}}});
              }),
              {"task 'brake'", "null"});
  expect_text(message_of<ScheduleError>([&] {
                executor.add(timer(),
                             {.name = "brake", .writes = {std::shared_ptr<PublisherBase>{}}});
              }),
              {"task 'brake'", "null"});
}

TEST_F(ExecutorErrors, a_period_that_is_not_above_zero) {
  for (const auto period : {0ms, -5ms}) {
    expect_text(message_of<std::invalid_argument>([&] { return node.create_timer(period, [] {}); }),
                {"/guard", "period", "above zero"});
  }
}

TEST_F(ExecutorErrors, a_name_for_a_whole_node) {
  expect_text(message_of<std::invalid_argument>([&] { executor.add_node(node, {.name = "all"}); }),
              {"'all'", "one by one"});
}

TEST_F(ExecutorErrors, starting_twice_and_settings_after_the_start) {
  executor.add(timer(), {.priority = 1});
  executor.start();
  EXPECT_THROW(executor.start(), std::logic_error);
  EXPECT_THROW(executor.on_deadline_miss([](const Miss&) {}), std::logic_error);
  SchedulingStrategy strategy;
  strategy.add_scenario(SchedulingScenario{"late"});
  EXPECT_THROW(executor.set_scheduling_strategy(strategy), std::logic_error);
  executor.stop();
}

TEST_F(ExecutorErrors, names_that_do_not_exist) {
  EXPECT_THROW(static_cast<void>(executor.statistics("nobody")), std::out_of_range);
  EXPECT_THROW(static_cast<void>(executor.task_name(3)), std::out_of_range);
  EXPECT_THROW(executor.remove("nobody"), ScheduleError);
  EXPECT_FALSE(executor.switch_to("nowhere"));
}

// Simulated time, by the arguments of ROS, for a node of some name.
bool refuses_timer(const std::vector<const char*>& arguments, const std::string& node_name,
                   const std::string& name_space = "") {
  std::vector<const char*> all{"program", "--ros-args"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  const Context context{static_cast<int>(all.size()), all.data()};
  const Node node{context, node_name, name_space};
  SchedulingExecutor executor{quiet()};
  const std::string message = message_of<ScheduleError>(
      [&] { executor.add(node.create_timer(10ms, [] {}), {.name = "brake", .priority = 1}); });
  if (!message.empty()) expect_text(message, {"task 'brake'", "use_sim_time", "CLOCK_MONOTONIC"});
  return !message.empty();
}

TEST(SimulatedTime, is_refused_for_timers_of_the_nodes_that_use_it) {
  EXPECT_TRUE(refuses_timer({"-p", "use_sim_time:=true"}, "guard"));
  EXPECT_TRUE(refuses_timer({"-p", "use_sim_time:=true"}, "guard", "/robot"));
  EXPECT_TRUE(refuses_timer({"-p", "guard:use_sim_time:=true"}, "guard"));
  EXPECT_FALSE(refuses_timer({"-p", "radar:use_sim_time:=true"}, "guard"));
  EXPECT_FALSE(refuses_timer({"-p", "use_sim_time:=false"}, "guard"));
  EXPECT_FALSE(refuses_timer({"-p", "other:=true"}, "guard"));
}

}  // namespace
}  // namespace takt::test
