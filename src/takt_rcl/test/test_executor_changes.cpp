// SPDX-License-Identifier: Apache-2.0
//
// An executor whose tasks and scenario change while it spins, and which ends in the middle of it.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <takt_interfaces/msg/sample.hpp>
#include <thread>
#include <vector>

#include "executor_support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;

TEST(SchedulingExecutor, switches_scenarios_while_it_spins_from_threads_and_callbacks) {
  Robot robot{"switch"};
  SchedulingExecutor executor{quiet()};
  std::atomic<std::uint64_t> calls{0}, switched{0};
  executor.add(robot.node.create_timer(1ms, [&] { ++calls; }), {.name = "a", .priority = 10});
  executor.add(robot.node.create_timer(
                   2ms,
                   [&] {
                     switched += executor.switch_to(switched % 2 == 0 ? "slow" : "fast") ? 1U : 0U;
                     EXPECT_FALSE(executor.switch_to("nowhere"));
                   }),
               {.name = "b", .priority = 20});
  SchedulingStrategy strategy;
  for (const char* name : {"fast", "slow", "dynamic"}) {
    SchedulingScenario scenario{name};
    scenario.add_timer("a", 30, std::string{name} == "slow" ? 4ms : 1ms);
    scenario.add_timer("b", 40, 2ms);
    if (std::string{name} == "dynamic") scenario.set_scheduling_policy(edf());
    strategy.add_scenario(scenario);
  }
  strategy.set_default_scenario("slow");
  executor.set_scheduling_strategy(strategy);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (const char* name : {"fast", "dynamic"}) {
    threads.emplace_back([&, name] {
      while (!stop) {
        EXPECT_TRUE(executor.switch_to(name));
        os::sleep_until(os::now() + 300us);
      }
    });
  }
  EXPECT_TRUE(spin_until(executor, [&] { return calls > 100 && switched > 50; }));
  stop = true;
  for (auto& thread : threads) thread.join();
}

TEST(SchedulingExecutor, a_callback_changes_tasks_its_own_included_and_stops_but_does_not_wait) {
  Robot robot{"stop"};
  SchedulingExecutor executor{quiet()};
  std::atomic<bool> refused{false};
  std::atomic<int> visits{0};
  const auto visitor = [&] {
    ++visits;
    executor.request_stop();
  };
  executor.add(robot.node.create_timer(5ms,
                                       [&] {
                                         refused = !message_of<std::logic_error>([&] {
                                                      executor.stop();
                                                    }).empty();
                                         executor.add(robot.node.create_timer(5ms, visitor),
                                                      {.name = "visitor", .priority = 1});
                                         executor.remove("self");
                                       }),
               {.name = "self", .priority = 10});
  executor.spin();
  EXPECT_TRUE(refused);
  EXPECT_GE(visits, 1);
  ASSERT_EQ(executor.tasks().size(), 1U);
  EXPECT_EQ(executor.tasks().front().name, "visitor");
  executor.stop();  // the second time does nothing
}

TEST(SchedulingExecutor, tasks_come_and_go_while_it_spins) {
  Robot robot{"come_and_go"};
  const auto out = robot.node.create_publisher<Sample>(robot.topic, QoS{10});
  SchedulingExecutor executor{quiet()};
  std::atomic<int> steady{0};
  executor.add(robot.node.create_timer(1ms,
                                       [&] {
                                         ++steady;
                                         static_cast<void>(out->publish(Sample{}));
                                       }),
               {.name = "steady", .priority = 50});
  executor.start();
  for (int i = 0; i < 10; ++i) {
    std::atomic<int> called{0};
    std::atomic<int> ticks{0};
    const auto in = robot.node.create_subscription<Sample>(robot.topic, QoS{10},
                                                           [&](const Sample&) { ++called; });
    const auto kept = robot.node.create_subscription<Sample>(robot.topic, QoS{10});
    executor.add(in, {.name = "called", .priority = 40});
    executor.add(robot.node.create_timer(2ms, [&] { ++ticks; }),
                 {.name = "ticks", .priority = 60, .reads = {kept}});
    EXPECT_TRUE(eventually([&] { return called > 2 && ticks > 2 && kept->latest() != nullptr; }));
    executor.remove("called").wait();
    executor.remove("ticks").wait();
    const int at_removal = called;
    const int count_before = steady;
    EXPECT_TRUE(eventually([&] { return steady > count_before + 2; }));
    EXPECT_EQ(called, at_removal);
    in->set_on_new_message_callback([](std::size_t) noexcept {});  // it is free again
  }
  executor.stop();
}

TEST(SchedulingExecutor, handlers_may_ask_for_names_while_tasks_are_added) {
  Robot robot{"names"};
  SchedulingExecutor executor{quiet()};
  std::atomic<int> misses{0};
  executor.on_deadline_miss([&](const Miss& miss) noexcept {
    EXPECT_TRUE(executor.task_name(miss.task).starts_with("late"));
    EXPECT_GE(executor.statistics(executor.task_name(miss.task)).releases, 1U);
    ++misses;
  });
  const auto late = [&] { return robot.node.create_timer(2ms, [] { burn(10us); }); };
  executor.add(late(), {.name = "late", .priority = 50, .deadline = 1us});
  executor.start();
  for (int i = 0; i < 20; ++i) {
    executor.add(late(), {.name = "late" + std::to_string(i), .priority = 60, .deadline = 1us});
  }
  EXPECT_TRUE(eventually([&] { return misses > 100; }));
  executor.stop();
}

TEST(SchedulingExecutor, may_end_while_messages_arrive) {
  Robot robot{"end"};
  const auto out = robot.node.create_publisher<Sample>(robot.topic, QoS{10});
  std::atomic<bool> stop{false};
  std::thread publishing{[&] {
    while (!stop) static_cast<void>(out->publish(Sample{}));
  }};
  for (int i = 0; i < 10; ++i) {
    const auto in =
        robot.node.create_subscription<Sample>(robot.topic, QoS{10}, [](const Sample&) {});
    SchedulingExecutor executor{quiet()};
    executor.add(in, {.name = "in", .priority = 10});
    executor.start();
    EXPECT_TRUE(eventually([&] { return executor.statistics("in").completed > 5; }));
  }
  stop = true;
  publishing.join();
}

TEST(SchedulingExecutor, a_callback_never_runs_twice_at_once) {
  Robot robot{"twice"};
  const auto out = robot.node.create_publisher<Sample>(robot.topic, QoS{10});
  std::atomic<int> inside{0}, calls{0};
  const auto in = robot.node.create_subscription<Sample>(robot.topic, QoS{10}, [&](const Sample&) {
    EXPECT_EQ(inside.fetch_add(1), 0);
    burn(300us);
    --inside;
    ++calls;
  });
  const std::vector<int> cpus = os::current_thread().cpus;
  ExecutorOptions options = quiet();
  options.cpus = {cpus.front()};
  if (cpus.size() > 1) options.cpus.push_back(cpus.back());
  SchedulingExecutor executor{options};
  executor.add(in, {.name = "in", .priority = 10, .cpu = options.cpus.back()});
  executor.add(robot.node.create_timer(1ms, [] {}),
               {.name = "reader", .priority = 80, .reads = {in}, .cpu = options.cpus.front()});
  executor.add(robot.node.create_timer(2ms, [] {}),
               {.name = "second", .priority = 90, .reads = {in}, .cpu = options.cpus.back()});
  executor.start();
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(out->publish(Sample{}));
    return calls > 300;
  }));
  executor.stop();
}

// In a task of its own, and in one that only reads it. Both can be started again: nobody waits for
// the callback that has been left.
TEST(SchedulingExecutor, what_leaves_the_callback_of_a_subscription_leaves_spin_where_asked_for) {
  for (const bool is_read : {false, true}) {
    Robot robot{is_read ? "throw_in_reader" : "throw"};
    const auto out = robot.node.create_publisher<Sample>(robot.topic, QoS{10});
    std::atomic<int> received{0}, used{0};
    const auto in =
        robot.node.create_subscription<Sample>(robot.topic, QoS{10}, [&](const Sample&) {
          if (++received == 1) throw std::runtime_error{"the sensor is gone"};
        });
    ExecutorOptions options = quiet();
    options.exceptions = Exceptions::leave_spin;
    SchedulingExecutor executor{options};
    if (is_read) {
      executor.add(robot.node.create_timer(1ms, [&] { ++used; }),
                   {.name = "reader", .priority = 10, .reads = {in}});
    } else {
      executor.add(in, {.name = "in", .priority = 10});
    }
    ASSERT_TRUE(out->publish(Sample{}));
    EXPECT_EQ(message_of<std::runtime_error>([&] { executor.spin(); }), "the sensor is gone");
    EXPECT_EQ(used, 0) << "a callback was called without what it reads";
    executor.start();
    ASSERT_TRUE(out->publish(Sample{}));
    EXPECT_TRUE(eventually([&] { return received == 2 && (used > 0 || !is_read); }));
    executor.stop();
  }
}

TEST(SchedulingExecutor, a_scenario_may_name_a_task_that_comes_and_goes) {
  Robot robot{"guest"};
  SchedulingExecutor executor{quiet()};
  executor.add(robot.node.create_timer(2ms, [] {}), {.name = "steady", .priority = 40});
  SchedulingStrategy strategy;
  strategy.add_scenario(SchedulingScenario{"docking"}.add_task({.task = "guest", .active = false}))
      .add_scenario(SchedulingScenario{"cruising"})
      .allow_absent_tasks();
  executor.set_scheduling_strategy(strategy);
  executor.start();
  for (int round = 0; round < 2; ++round) {
    std::atomic<int> runs{0};
    EXPECT_TRUE(executor.switch_to("docking"));
    executor.add(robot.node.create_timer(1ms, [&] { ++runs; }), {.name = "guest", .priority = 20});
    const std::uint64_t count_before = executor.statistics("steady").completed;
    EXPECT_TRUE(
        eventually([&] { return executor.statistics("steady").completed >= count_before + 5; }));
    EXPECT_EQ(runs, 0);
    EXPECT_TRUE(executor.switch_to("cruising"));
    EXPECT_TRUE(eventually([&] { return runs >= 3; }));
    executor.remove("guest").wait();
  }
  executor.stop();
}

TEST(SchedulingExecutor, goes_on_with_its_timers_after_shutdown_of_the_context) {
  Robot robot{"shutdown"};
  std::atomic<int> calls{0};
  SchedulingExecutor executor{quiet()};
  executor.add(robot.node.create_timer(1ms, [&] { ++calls; }), {.priority = 10});
  executor.start();
  robot.context.shutdown();
  const int before = calls;
  EXPECT_TRUE(eventually([&] { return calls > before + 3; }));
  executor.stop();
}

}  // namespace
}  // namespace takt::test
