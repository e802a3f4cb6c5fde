// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <takt/baseline/node_processes.hpp>
#include <takt/baseline/real_time_process.hpp>
#include <takt/baseline/single_threaded_executor.hpp>
#include <takt/trace/reader.hpp>
#include <takt_interfaces/msg/sample.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "takt/testing/patience.hpp"
#include "takt/testing/temporary.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;
const ContextOptions through_middleware{.use_intra_process = false};

TEST(Baseline0, runs_timers_in_the_order_of_registration_and_messages_after_them) {
  const Context context{through_middleware};
  const Node node{context, "order"};
  const std::string topic = unique_topic("order");
  const TemporaryFolder folder;
  const auto file = folder.path() / "trace";
  baseline::SingleThreadedExecutor executor{context, {.trace = file}};
  std::vector<std::string> order;
  const auto out = node.create_publisher<Sample>(topic, QoS{10});
  constexpr auto period = 500ms;
  const os::TimePoint begun = os::now();
  os::TimePoint created;
  const auto first = node.create_timer(period, [&] {
    order.emplace_back("first");
    static_cast<void>(out->publish(Sample{}));
    // Until the others are due, too, however long it took to create them.
    os::sleep_until(created + (os::now() - begun) / period * period + 1ms);
  });
  const auto second = node.create_timer(period, [&] { order.emplace_back("second"); });
  const auto third = node.create_timer(period, [&] { order.emplace_back("third"); });
  created = os::now();
  const auto in = node.create_subscription<Sample>(topic, QoS{10}, [&](const Sample&) {
    order.emplace_back("message");
    if (order.size() >= 12) executor.request_stop();
  });
  ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 1; }));
  executor.add_node(node);
  executor.spin();
  std::vector<std::string> expected;
  for (int i = 0; i < 3; ++i) {
    expected.insert(expected.end(), {"first", "second", "third", "message"});
  }
  EXPECT_EQ(order, expected);
  std::vector<std::string> traced;
  for (const trace::Event& event : trace::read_trace(file).events) {
    if (event.type == trace::EventType::start) traced.push_back(std::to_string(event.task));
  }
  EXPECT_EQ(traced,
            (std::vector<std::string>{"0", "1", "2", "3", "0", "1", "2", "3", "0", "1", "2", "3"}));
}

TEST(Baseline0, takes_one_message_of_a_subscription_at_a_time) {
  const Context context{through_middleware};
  const Node node{context, "single"};
  const std::string topic = unique_topic("single");
  baseline::SingleThreadedExecutor executor{context};
  std::vector<std::string> order;
  const auto out = node.create_publisher<Sample>(topic, QoS{10});
  const auto other = node.create_publisher<Sample>(topic + "_other", QoS{10});
  const auto in = node.create_subscription<Sample>(topic, QoS{10},
                                                   [&](const Sample&) { order.emplace_back("a"); });
  const auto in_other =
      node.create_subscription<Sample>(topic + "_other", QoS{10}, [&](const Sample&) {
        order.emplace_back("b");
        if (order.size() == 4) {
          executor.request_stop();
        }
      });
  ASSERT_TRUE(eventually(
      [&] { return out->get_subscription_count() == 1 && other->get_subscription_count() == 1; }));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(out->publish(Sample{}));
    ASSERT_TRUE(other->publish(Sample{}));
  }
  ASSERT_TRUE(out->wait_for_all_acked(patience));
  ASSERT_TRUE(other->wait_for_all_acked(patience));
  executor.add_node(node);
  executor.spin();
  EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "a", "b"}));
}

TEST(Baseline0, refuses_what_a_wait_set_does_not_see) {
  const Context context;
  const Node node{context, "pointer"};
  const auto in = node.create_subscription<Sample>(unique_topic("pointer"), QoS{1});
  baseline::SingleThreadedExecutor executor{context};
  try {
    executor.add_node(node);
    FAIL() << "nothing was thrown";
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string{error.what()}.find("use_intra_process"), std::string::npos);
  }
}

TEST(Baseline0, ends_by_a_stop_flag) {
  const Context context{through_middleware};
  const Node node{context, "flag"};
  os::StopFlag stop;
  int calls = 0;
  const auto timer = node.create_timer(5ms, [&] {
    if (++calls == 3) stop.request();
  });
  baseline::SingleThreadedExecutor executor{context};
  executor.add_node(node);
  executor.spin(stop);
  EXPECT_GE(calls, 3);
}

TEST(Baseline0, begins_at_a_common_start_and_ends_by_itself) {
  const Context context{through_middleware};
  const Node node{context, "common"};
  const TemporaryFolder folder;
  const auto file = folder.path() / "trace";
  baseline::SingleThreadedExecutor executor{context,
                                            {.trace = file, .trace_attributes = {{"seed", "7"}}}};
  const auto always = node.create_timer(1ms, [] { burn(2ms); });  // is never done
  const auto late = node.create_timer(20ms, [] {});
  executor.add(always, {.name = "always", .priority = 3});
  executor.add(late, {.name = "late", .deadline = 7ms, .offset = 30ms});
  os::StopFlag stop;
  const os::TimePoint start = os::now() + 10ms;
  executor.begin_at(start);
  executor.spin(stop, start + 1s);
  const trace::Trace trace = trace::read_trace(file);
  EXPECT_EQ(trace.tasks.at(0), "always");
  EXPECT_EQ(trace.tasks.at(1), "late");
  EXPECT_EQ(std::ranges::count(trace.attributes, "seed=7"), 1);
  bool first = true;
  int skips = 0;
  int misses = 0;
  for (const trace::Event& event : trace.events) {
    skips += event.type == trace::EventType::skip ? 1 : 0;
    misses += event.type == trace::EventType::deadline_miss ? 1 : 0;
    if (event.type == trace::EventType::start && event.task == 0) {
      EXPECT_EQ(event.value, 3);
    }
    if (event.type == trace::EventType::end) {
      EXPECT_GE(event.value, 0);  // CPU time
    }
    if (event.type != trace::EventType::release || event.task != 1) continue;
    EXPECT_EQ(event.value - event.time, std::chrono::nanoseconds{7ms}.count());
    if (std::exchange(first, false)) {
      EXPECT_EQ(event.job, 0U);
      EXPECT_GE(event.time, (start + 20ms).time_since_epoch().count());  // not one period on
    }
  }
  EXPECT_FALSE(first);
  EXPECT_GT(skips, 0);
  EXPECT_GT(misses, 0);
}

// Before any context in this process: gtest runs each test in a process of its own under ctest.
TEST(Baseline1, runs_each_node_in_a_process_of_its_own_and_reports_how_it_ended) {
  const os::StopFlag stop;
  const bool privileged = !no_fifo();
  const auto node = [&](const std::string& name, int priority, int code) {
    return baseline::NodeProcess{
        .name = name, .priority = priority, .run = [=](os::StopFlag& asked) {
          const Context context{through_middleware};
          const Node own{context, name};
          baseline::SingleThreadedExecutor executor{context};
          const auto timer = own.create_timer(5ms, [&] { executor.request_stop(); });
          executor.add_node(own);
          executor.spin(asked);
          const auto status = os::current_thread();
          const bool as_asked = !privileged || (status.policy == os::SchedulingPolicy::fifo &&
                                                status.priority == priority);
          return as_asked ? code : 99;
        }};
  };
  const auto ended = baseline::run_node_processes({node("a", 10, 0), node("b", 20, 7)}, stop);
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_EQ(ended[0].name, "a");
  EXPECT_EQ(ended[0].exit_code, 0);
  EXPECT_EQ(ended[1].exit_code, 7);
}

// Who has hardly begun must hear it, too. With real-time priority this thread asks before any of
// them has run at all.
TEST(Baseline1, passes_a_request_to_stop_on_that_came_before_its_processes) {
  os::StopFlag stop;
  const os::StopOnSignal on_signal{stop};  // which they inherit
  static_cast<void>(
      os::apply({.policy = os::SchedulingPolicy::fifo, .priority = 5, .cpus = {sched_getcpu()}}));
  stop.request();
  const baseline::NodeProcess waits{.name = "waits", .run = [](os::StopFlag& asked) {
                                      static_cast<void>(asked.wait_until(os::now() + patience));
                                      return asked.requested() ? 3 : 4;
                                    }};
  for (const auto& one : baseline::run_node_processes({20, waits}, stop)) {
    EXPECT_EQ(one.exit_code, 3);
  }
}

TEST(Baseline1, passes_a_request_to_stop_on) {
  os::StopFlag stop;
  std::thread asking{[&] {
    os::sleep_until(os::now() + 50ms);
    stop.request();
  }};
  const auto ended = baseline::run_node_processes(
      {{.name = "waits",
        .run =
            [](os::StopFlag& asked) {
              asked.wait();
              return 3;
            }},
       {.name = "throws", .run = [](os::StopFlag&) -> int { throw std::runtime_error{"broken"}; }}},
      stop);
  asking.join();
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_EQ(ended[0].exit_code, 3);
  EXPECT_EQ(ended[1].exit_code, 1);
}

// A thread that waits stands for one of the middleware; those of Takt stay as they are.
TEST(Baseline1, gives_the_threads_of_the_middleware_a_priority_and_cores) {
  if (const auto reason = no_fifo()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int core = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(core), &allowed)) {
    ++core;
  }
  std::promise<void> ended;
  std::array<std::atomic<pid_t>, 2> ids{};
  const std::shared_future<void> end = ended.get_future().share();
  const auto waiting = [&](std::size_t number, const char* name) {
    return std::thread{[&ids, end, number, name] {
      pthread_setname_np(pthread_self(), name);
      ids.at(number) = gettid();
      end.wait();
    }};
  };
  std::thread middleware = waiting(0, "dds.test");
  std::thread own = waiting(1, "takt.test");
  while (ids[0] == 0 || ids[1] == 0) {
    std::this_thread::yield();
  }
  baseline::raise_middleware(7, {core});
  sched_param parameters{};
  cpu_set_t cores;
  sched_getparam(ids[0], &parameters);
  EXPECT_EQ(sched_getscheduler(ids[0]), SCHED_FIFO);
  EXPECT_EQ(parameters.sched_priority, 7);
  ASSERT_EQ(sched_getaffinity(ids[0], sizeof cores, &cores), 0);
  EXPECT_EQ(CPU_COUNT(&cores), 1);
  EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(core), &cores));
  EXPECT_EQ(sched_getscheduler(ids[1]), SCHED_OTHER);
  ended.set_value();
  middleware.join();
  own.join();
}

}  // namespace
}  // namespace takt::test
