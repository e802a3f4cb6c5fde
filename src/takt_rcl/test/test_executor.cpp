// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <takt/trace/reader.hpp>
#include <takt_interfaces/msg/sample.hpp>
#include <thread>
#include <vector>

#include "executor_support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;

// When each message had been published, and which one each job of the reader had.
struct Seen {
  os::TimePoint release;
  std::uint64_t sequence;
};

class Freshness : public testing::TestWithParam<bool> {};

// What publish() has returned for before a timer's release is what its callback sees, or newer:
// while a thread publishes as fast as it can, another task burns the core, and the messages' own
// task competes for them.
TEST_P(Freshness, a_timer_never_runs_on_old_data_when_newer_was_pending) {
  constexpr std::uint64_t messages = 20000;     // and more until both timers have run often
  constexpr std::uint64_t most = 2 * messages;  // which end after many seconds
  constexpr int often = 11;
  const Context context{ContextOptions{.use_intra_process = GetParam()}};
  const Node node{context, "fresh"};
  const std::string topic = unique_topic("fresh");
  const auto out = node.create_publisher<Sample>(topic, QoS{5});
  const auto kept = node.create_subscription<Sample>(topic, QoS{5});
  std::atomic<std::uint64_t> newest{0};
  const auto called = node.create_subscription<Sample>(
      topic, QoS{5}, [&](const Sample& message) { newest = message.sequence; });
  ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 2; }));
  std::vector<os::TimePoint> published(most + 1);
  std::vector<Seen> by_latest;
  std::vector<Seen> by_callback;
  by_latest.reserve(10000);
  by_callback.reserve(10000);
  std::atomic<int> latest_jobs{0};
  std::atomic<int> callback_jobs{0};
  SchedulingExecutor executor{quiet()};
  executor.add(
      node.create_timer(2ms,
                        [&](const Job& job) {
                          const auto latest = kept->latest();
                          by_latest.push_back({job.release, latest ? latest->sequence : 0});
                          ++latest_jobs;
                        }),
      {.priority = 50, .reads = {kept}});
  executor.add(node.create_timer(3ms,
                                 [&](const Job& job) {
                                   by_callback.push_back({job.release, newest});
                                   ++callback_jobs;
                                 }),
               {.priority = 60, .reads = {called}});
  executor.add(called, {.priority = 55});
  executor.add(node.create_timer(7ms, [] { burn(2ms); }), {.priority = 20});
  const auto enough = [&] { return latest_jobs >= often && callback_jobs >= often; };
  std::atomic<std::uint64_t> sent{0};
  std::atomic<bool> all{false};
  std::thread publishing{[&] {
    Sample sample;
    for (std::uint64_t i = 1; i <= messages || (i <= most && !enough()); ++i) {
      sample.sequence = i;
      EXPECT_TRUE(out->publish(sample));
      published[i] = os::now();
      sent = i;
      if (i > messages) os::sleep_until(os::now() + 1ms);
      if (i % 10 == 0) os::sleep_until(os::now() + 50us);
    }
    all = true;
  }};
  EXPECT_TRUE(spin_until(executor, [&] { return all.load(); }));
  publishing.join();
  for (const auto* seen : {&by_latest, &by_callback}) {
    ASSERT_GE(seen->size(), static_cast<std::size_t>(often));
    for (const Seen& job : *seen) {
      // Whatever follows the message that the job had was not there yet at its release.
      if (job.sequence < sent) {
        EXPECT_GT(published[job.sequence + 1], job.release) << "message " << job.sequence;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Transport, Freshness, testing::Bool(), [](const auto& transport) {
  return transport.param ? "by_pointer" : "through_the_middleware";
});

TEST(SchedulingExecutor, runs_each_message_once_in_order_and_by_its_topic_readers_priority) {
  Robot robot{"messages"};
  std::vector<std::uint64_t> got;
  std::atomic<int> priority{0};
  std::atomic<bool> all{false};
  const auto in =
      robot.node.create_subscription<Sample>(robot.topic, QoS{100}, [&](const Sample& m) {
        got.push_back(m.sequence);
        priority = os::current_thread().priority;
        all = got.size() == 50;
      });
  const auto kept = robot.node.create_subscription<Sample>(robot.topic, QoS{100});
  const auto out = robot.node.create_publisher<Sample>(robot.topic, QoS{100});
  SchedulingExecutor executor{quiet()};
  executor.add(robot.node.create_timer(100ms, [] {}), {.priority = 33, .reads = {kept}});
  executor.add(in);
  executor.start();
  std::vector<std::uint64_t> sent;
  for (std::uint64_t i = 0; i < 50; ++i) {
    Sample sample;
    sample.sequence = i;
    ASSERT_TRUE(out->publish(sample));
    sent.push_back(i);
  }
  EXPECT_TRUE(eventually([&] { return all.load(); }));
  executor.stop();
  EXPECT_EQ(got, sent);
  if (!no_fifo()) {
    EXPECT_EQ(priority, 33);
  }
}

TEST(SchedulingExecutor, a_subscription_that_skips_gets_the_newest_message_only) {
  Robot robot{"skips"};
  std::vector<std::uint64_t> got;
  const auto in = robot.node.create_subscription<Sample>(
      robot.topic, QoS{100}, [&](const Sample& message) { got.push_back(message.sequence); });
  const auto out = robot.node.create_publisher<Sample>(robot.topic, QoS{100});
  SchedulingExecutor executor{quiet()};
  executor.add(in, {.name = "skips", .priority = 1, .overrun = Overrun::skip});
  for (std::uint64_t i = 0; i < 10; ++i) {
    Sample sample;
    sample.sequence = i;
    ASSERT_TRUE(out->publish(sample));
  }
  executor.start();
  EXPECT_TRUE(eventually([&] { return executor.statistics("skips").completed >= 1; }));
  executor.stop();
  EXPECT_EQ(got, std::vector<std::uint64_t>{9});
}

TEST(SchedulingExecutor, add_node_adds_what_is_not_added_yet_with_the_options_given) {
  Robot robot{"node"};
  std::map<std::string, std::atomic<int>> calls;
  for (const char* name : {"first", "second", "message"}) calls[name] = 0;
  const auto first = robot.node.create_timer(5ms, [&] { ++calls["first"]; });
  const auto second = robot.node.create_timer(5ms, [&] { ++calls["second"]; });
  const auto in = robot.node.create_subscription<Sample>(
      robot.topic, QoS{1}, [&](const Sample&) { ++calls["message"]; });
  const auto kept = robot.node.create_subscription<Sample>(robot.topic, QoS{1});
  const auto out = robot.node.create_publisher<Sample>(robot.topic, QoS{1});
  SchedulingExecutor executor{quiet()};
  executor.add(second, {.name = "mine", .priority = 60});
  executor.add_node(robot.node, {.priority = 10});
  EXPECT_EQ(executor.task_name(0), "mine");
  EXPECT_EQ(executor.task_name(1), "robot.timer1");
  EXPECT_EQ(executor.task_name(2), "robot." + robot.topic);
  EXPECT_EQ(executor.core().task_count(), 3U);
  executor.start();
  ASSERT_TRUE(out->publish(Sample{}));
  EXPECT_TRUE(eventually(
      [&] { return calls["first"] > 1 && calls["second"] > 1 && calls["message"] == 1; }));
  executor.stop();
}

TEST(SchedulingExecutor, calls_each_handler_with_the_task_that_it_is_about) {
  Robot robot{"handlers"};
  const auto in = robot.node.create_subscription<Sample>(robot.topic, QoS{1});
  SchedulingExecutor executor{quiet()};
  std::atomic<int> misses{0}, skips{0}, overruns{0}, violations{0};
  const TaskIndex late = executor.add(robot.node.create_timer(20ms, [] { burn(5ms); }),
                                      {.name = "late", .priority = 10, .deadline = 1ms});
  const TaskIndex skipping = executor.add(robot.node.create_timer(2ms, [] { burn(5ms); }),
                                          {.name = "skipping", .priority = 20});
  const TaskIndex greedy = executor.add(robot.node.create_timer(20ms, [] { burn(4ms); }),
                                        {.name = "greedy", .priority = 90, .budget = 1ms});
  const TaskIndex old =
      executor.add(robot.node.create_timer(20ms, [] {}),
                   {.name = "old", .priority = 80, .reads = {in}, .max_age = 1ms});
  executor.on_deadline_miss([&](const Miss& miss) noexcept {
    if (miss.task == late) ++misses;
    EXPECT_GT(miss.ended, miss.deadline);
  });
  executor.on_skip([&](const Skip& skip) noexcept {
    if (skip.task == skipping) skips += static_cast<int>(skip.count);
  });
  executor.on_budget_overrun([&](const BudgetOverrun& overrun) noexcept {
    EXPECT_EQ(overrun.task, greedy);
    EXPECT_GT(overrun.used, overrun.budget);
    ++overruns;
  });
  executor.on_age_violation([&](const AgeViolation& violation) noexcept {
    EXPECT_EQ(violation.task, old);
    EXPECT_EQ(violation.topic, "/" + robot.topic);
    ++violations;
  });
  EXPECT_TRUE(spin_until(
      executor, [&] { return misses > 0 && skips > 0 && overruns > 0 && violations > 0; }));
  EXPECT_EQ(executor.statistics("late").deadline_misses, static_cast<std::uint64_t>(misses));
  EXPECT_EQ(executor.statistics("greedy").budget_overruns, static_cast<std::uint64_t>(overruns));
  EXPECT_EQ(executor.statistics("old").age_violations, static_cast<std::uint64_t>(violations));
}

TEST(SchedulingExecutor, data_ages_along_a_chain_of_callbacks_from_the_timer_at_its_head) {
  Robot robot{"chain"};
  const auto raw_out = robot.node.create_publisher<Sample>(robot.topic + "_raw", QoS{1});
  const auto out = robot.node.create_publisher<Sample>(robot.topic, QoS{1});
  std::atomic<std::int64_t> head{0};
  const auto filter = robot.node.create_subscription<Sample>(
      robot.topic + "_raw", QoS{1}, [&](const Sample& message) {
        burn(3ms);
        static_cast<void>(out->publish(message));
      });
  const auto in = robot.node.create_subscription<Sample>(robot.topic, QoS{1});
  const TemporaryFile file;
  ExecutorOptions options = quiet();
  options.trace = file.path();
  SchedulingExecutor executor{options};
  executor.add(robot.node.create_timer(20ms,
                                       [&](const Job& job) {
                                         head = job.release.time_since_epoch().count();
                                         static_cast<void>(raw_out->publish(Sample{}));
                                       }),
               {.name = "head", .priority = 70});
  executor.add(filter, {.name = "filter", .priority = 60});
  std::atomic<int> reads{0};
  executor.add(robot.node.create_timer(20ms, [&] { ++reads; }),
               {.name = "reader", .priority = 10, .reads = {in}, .offset = 10ms});
  EXPECT_TRUE(spin_until(executor, [&] { return reads >= 5; }));
  int deliveries = 0;
  const trace::Trace trace = trace::read_trace(file.path());
  for (const trace::Event& event : trace.events) {
    if (event.type != trace::EventType::deliver || trace.tasks.at(event.task) != "reader") continue;
    ++deliveries;
    // Not younger than its way: the head's release is at least the filter's 3 ms ago.
    EXPECT_GE(event.value, 3'000'000);
  }
  EXPECT_GT(deliveries, 0);
}

}  // namespace
}  // namespace takt::test
