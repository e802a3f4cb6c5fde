// SPDX-License-Identifier: Apache-2.0
//
// Chains over messages that are passed by pointer and through the middleware: what the monitor says
// is what the trace says.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <std_msgs/msg/int64.hpp>
#include <string>
#include <takt/rcl/scheduling_executor.hpp>
#include <takt/trace/current.hpp>
#include <takt/trace/flows.hpp>
#include <takt/trace/reader.hpp>
#include <vector>

#include "executor_support.hpp"

namespace takt::test {
namespace {

using std_msgs::msg::Int64;

// The numbers of messages of a topic, for the trace.
class Numbers {
 public:
  void publish(const std::shared_ptr<Publisher<Int64>>& publisher) {
    auto message = std::make_unique<Int64>();
    message->data = next_++;
    trace::record_in_job(trace::EventType::publish, os::now(), topic, message->data);
    static_cast<void>(publisher->publish(std::move(message)));
  }
  void use(std::int64_t number) const {
    trace::record_in_job(trace::EventType::use, os::now(), topic, number);
  }
  std::uint16_t topic = 0;

 private:
  std::atomic<std::int64_t> next_{0};
};

// scan (timer) -> filter (message) -> brake (timer).
struct ByPointer {
  bool raw;
  bool clean;
};

class Monitor : public testing::TestWithParam<ByPointer> {
 protected:
  Monitor() : executor_{with_trace(file_)} {
    const SubscriptionOptions raw_way{.use_intra_process = GetParam().raw};
    const SubscriptionOptions clean_way{.use_intra_process = GetParam().clean};
    const auto raw_out = robot_.node.create_publisher<Int64>(robot_.topic, QoS{8});
    const auto clean_out = robot_.node.create_publisher<Int64>(robot_.topic + "_clean", QoS{8});
    const auto clean_in =
        robot_.node.create_subscription<Int64>(robot_.topic + "_clean", QoS{8}, clean_way);
    const auto raw_in = robot_.node.create_subscription<Int64>(
        robot_.topic, QoS{8},
        [=, this](const Int64& raw) {
          raw_.use(raw.data);
          burn(100us);
          clean_.publish(clean_out);
        },
        raw_way);
    executor_.add(robot_.node.create_timer(2ms, [=, this] { raw_.publish(raw_out); }),
                  {.name = "scan", .priority = 40, .writes = {raw_out}});
    executor_.add(raw_in,
                  {.name = "filter", .priority = 30, .deadline = 1s, .writes = {clean_out}});
    executor_.add(robot_.node.create_timer(3ms,
                                           [=, this] {
                                             const auto clean = clean_in->latest();
                                             clean_.use(clean ? clean->data : -1);
                                             burn(300us);
                                           }),
                  {.name = "brake", .priority = 20, .reads = {{clean_in}}});
    raw_.topic = executor_.core().trace_topic(raw_out->get_topic_name());
    clean_.topic = executor_.core().trace_topic(clean_out->get_topic_name());
  }
  static ExecutorOptions with_trace(const TemporaryFile& file) {
    ExecutorOptions options = quiet();
    options.trace = file.path();
    return options;
  }
  static Limits limits() {
    return {.chains = {{.chain = "stop", .callbacks = path, .latency = 2ms, .age = 3ms}}};
  }
  [[nodiscard]] LimitStatistics watched(Quantity quantity) const {
    const auto all = executor_.limits();
    return *std::ranges::find_if(all, [&](const auto& one) { return one.quantity == quantity; });
  }

  static inline const std::vector<std::string> path{"scan", "filter", "brake"};
  TemporaryFile file_;
  Robot robot_{"monitor"};
  Numbers raw_;
  Numbers clean_;
  SchedulingExecutor executor_;
};

INSTANTIATE_TEST_SUITE_P(Ways, Monitor,
                         testing::Values(ByPointer{true, true}, ByPointer{false, false},
                                         ByPointer{true, false}, ByPointer{false, true}),
                         [](const auto& ways) {
                           return std::string{ways.param.raw ? "Pointer" : "Middleware"} +
                                  (ways.param.clean ? "Pointer" : "Middleware");
                         });

void expect_same(const LimitStatistics& watched, const std::vector<std::int64_t>& traced) {
  EXPECT_EQ(watched.checked, traced.size());
  EXPECT_EQ(watched.exceeded,
            static_cast<std::uint64_t>(std::ranges::count_if(
                traced, [&](auto value) { return value > watched.limit.count(); })));
  EXPECT_EQ(watched.worst.count(), traced.empty() ? 0 : std::ranges::max(traced));
}

TEST_P(Monitor, SaysOfAChainWhatTheTraceSays) {
  executor_.set_limits(limits());
  EXPECT_TRUE(spin_until(executor_, [&] { return watched(Quantity::latency).checked >= 100; }));
  const trace::Trace trace = trace::read_trace(file_.path());
  ASSERT_EQ(trace.lost, 0U);
  trace::Flows flows{trace, {path}};
  std::ranges::for_each(trace.events, [&](const trace::Event& event) { flows.take(event); });
  std::vector<std::int64_t> ages;
  std::vector<std::int64_t> latencies;
  for (const trace::Arrival& arrival : flows.arrivals) {
    ages.push_back(arrival.age);
    if (arrival.first) {
      latencies.push_back(arrival.age);
    }
  }
  expect_same(watched(Quantity::age), ages);
  expect_same(watched(Quantity::latency), latencies);
}

// What comes from elsewhere has a stamp, too; scan makes none of what brake reads.
TEST_P(Monitor, MessagesOfNoCallbackOfTheChainLeadToNoArrival) {
  const Context elsewhere;
  const Node other{elsewhere, "other"};
  const auto out = other.create_publisher<Int64>(robot_.topic + "_clean", QoS{8});
  executor_.set_limits(
      {.callbacks = {{.callback = "brake"}},
       .chains = {{.chain = "stop", .callbacks = {"scan", "brake"}, .latency = 1ns}}});
  EXPECT_TRUE(spin_until(executor_, [&] {
    static_cast<void>(out->publish(Int64{}));
    return watched(Quantity::response).checked >= 50;
  }));
  EXPECT_EQ(watched(Quantity::latency).checked, 0U);
  EXPECT_GE(watched(Quantity::latency).begun, 1U);
}

TEST_P(Monitor, TheHandlerMayAskForTheNameOfTheTask) {
  std::mutex mutex;
  std::vector<std::string> names;
  Limits tight = limits();
  tight.chains.front().latency = 1ns;
  executor_.set_limits(tight);
  executor_.on_limit_exceeded([&](const LimitExceeded& exceeded) noexcept {
    const std::lock_guard lock{mutex};
    names.push_back(std::string{exceeded.subject} + " " + executor_.task_name(exceeded.task));
  });
  EXPECT_TRUE(spin_until(executor_, [&] { return watched(Quantity::latency).exceeded >= 5; }));
  ASSERT_GE(names.size(), 5U);
  EXPECT_EQ(names.front(), "stop brake");
}

TEST_P(Monitor, AReadIsNamedByItsTopicWithoutTheFirstSlash) {
  Limits ages;
  ages.reads = {{.callback = "brake", .topic = robot_.topic + "_clean", .age = 1ns}};
  executor_.set_limits(ages);
  EXPECT_TRUE(spin_until(executor_, [&] { return watched(Quantity::age).exceeded >= 5; }));
}

}  // namespace
}  // namespace takt::test
