// SPDX-License-Identifier: Apache-2.0
//
// Chains of callbacks of rclcpp: what the monitor says is what the trace of the same run says.
#include <algorithm>
#include <cstdint>
#include <std_msgs/msg/int32.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"
#include "takt/testing/temporary.hpp"
#include "takt/trace/flows.hpp"
#include "takt/trace/reader.hpp"

namespace takt::test {
namespace {

using executor::LimitStatistics;
using executor::Quantity;
using std_msgs::msg::Int32;

void expect_same(const LimitStatistics& watched, const std::vector<std::int64_t>& traced) {
  SCOPED_TRACE(watched.subject);
  EXPECT_EQ(watched.checked, traced.size());
  EXPECT_EQ(watched.exceeded,
            static_cast<std::uint64_t>(std::ranges::count_if(
                traced, [&](auto value) { return value > watched.limit.count(); })));
  EXPECT_EQ(watched.worst.count(), traced.empty() ? 0 : std::ranges::max(traced));
}

// scan (timer) -> filter (subscription) -> store (subscription); brake (timer) reads what store
// gets. The parameter: messages are passed as pointers.
class Monitor : public WithContext, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    const auto how = rclcpp::NodeOptions{}.use_intra_process_comms(GetParam());
    robot_ = std::make_shared<rclcpp::Node>(unique("robot"), how);
    const auto raw = robot_->create_publisher<Int32>(unique("raw"), 8);
    const auto clean = robot_->create_publisher<Int32>(unique("clean"), 8);
    entities_.push_back(robot_->create_wall_timer(2ms, [raw] { raw->publish(Int32{}); }));
    entities_.push_back(
        robot_->create_subscription<Int32>(unique("raw"), 8, [clean](const Int32& message) {
          burn(100us);
          clean->publish(message);
        }));
    brakes_ = std::make_shared<rclcpp::Node>(unique("brakes"), how);
    entities_.push_back(
        brakes_->create_subscription<Int32>(unique("clean"), 8, [](const Int32&) { burn(50us); }));
    entities_.push_back(brakes_->create_wall_timer(3ms, [] { burn(300us); }));
  }
  [[nodiscard]] takt_rclcpp::Options options() const {
    takt_rclcpp::Options options = quiet();
    options.scheduling.trace = file_.path();
    options.timing = [this](const CallbackId& id) {
      return id.text() == brake
                 ? Timing{.priority = 80, .reads = {{.topic = "/" + unique("clean")}}}
                 : Timing{.priority = 20};
    };
    return options;
  }

  const std::string kind = GetParam() ? ".intra_process:/" : ".subscription:/";
  const std::string scan = unique("robot") + ".timer0";
  const std::string filter = unique("robot") + kind + unique("raw");
  const std::string store = unique("brakes") + kind + unique("clean");
  const std::string brake = unique("brakes") + ".timer0";
  rclcpp::Node::SharedPtr robot_;
  rclcpp::Node::SharedPtr brakes_;
  std::vector<std::shared_ptr<void>> entities_;
  TemporaryFile file_;
};

LimitStatistics of(const SchedulingExecutor& executor, const std::string& chain,
                   Quantity quantity) {
  const auto all = executor.limits();
  return *std::ranges::find_if(
      all, [&](const auto& one) { return one.subject == chain && one.quantity == quantity; });
}

TEST_P(Monitor, SaysOfChainsWhatTheTraceSays) {
  const std::vector<std::vector<std::string>> paths{{scan, filter, store}, {scan, filter, brake}};
  SchedulingExecutor executor{options()};
  executor.set_limits(
      {.chains = {{.chain = "stored", .callbacks = paths[0], .latency = 1ms, .age = 1ms},
                  {.chain = "stop", .callbacks = paths[1], .latency = 3ms, .age = 4ms}}});
  executor.add_node(robot_);
  executor.add_node(brakes_);
  {
    Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] {
      return of(executor, "stored", Quantity::latency).checked >= 50 &&
             of(executor, "stop", Quantity::latency).checked >= 50;
    }));
    spinning.end();
  }
  const trace::Trace trace = trace::read_trace(file_.path());
  ASSERT_EQ(trace.lost, 0U);
  trace::Flows flows{trace, paths};
  std::ranges::for_each(trace.events, [&](const trace::Event& event) { flows.take(event); });
  for (std::size_t chain = 0; chain < paths.size(); ++chain) {
    std::vector<std::int64_t> ages;
    std::vector<std::int64_t> latencies;
    for (const trace::Arrival& arrival : flows.arrivals) {
      if (arrival.chain == chain) {
        ages.push_back(arrival.age);
        if (arrival.first) {
          latencies.push_back(arrival.age);
        }
      }
    }
    const std::string name = chain == 0 ? "stored" : "stop";
    expect_same(of(executor, name, Quantity::age), ages);
    expect_same(of(executor, name, Quantity::latency), latencies);
  }
}

// Of a node that another executor spins, or of another process.
TEST_P(Monitor, MessagesOfNoCallbackOfTheChainLeadToNoArrival) {
  const auto outside = std::make_shared<rclcpp::Node>(
      unique("outside"), rclcpp::NodeOptions{}.use_intra_process_comms(GetParam()));
  const auto out = outside->create_publisher<Int32>(unique("clean"), 8);
  SchedulingExecutor executor{options()};
  executor.set_limits(
      {.callbacks = {{.callback = store}},
       .chains = {{.chain = "stored", .callbacks = {scan, store}, .latency = 1ns}}});
  executor.add_node(brakes_);
  executor.add_node(robot_);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] {
    out->publish(Int32{});
    return of(executor, store, Quantity::response).checked >= 50;
  }));
  spinning.end();
  EXPECT_EQ(of(executor, "stored", Quantity::latency).checked, 0U);
}

class MonitorOfPointers : public Monitor {};

// A message that overwrites another one in a full buffer has its place.
TEST_P(MonitorOfPointers, AMessageThatIsOverwrittenIsNotTheOneThatArrives) {
  const auto outside = std::make_shared<rclcpp::Node>(
      unique("outside"), rclcpp::NodeOptions{}.use_intra_process_comms(true));
  const auto out = outside->create_publisher<Int32>(unique("deep"), 8);
  const auto inner = robot_->create_publisher<Int32>(unique("deep"), 8);
  entities_.push_back(robot_->create_wall_timer(2ms, [inner, out] {
    inner->publish(Int32{});
    std::thread{[&] { out->publish(Int32{}); }}.join();  // of no callback
  }));
  entities_.push_back(
      brakes_->create_subscription<Int32>(unique("deep"), 1, [](const Int32&) { burn(50us); }));
  const std::string writer = unique("robot") + ".timer1";
  const std::string reader = unique("brakes") + kind + unique("deep");
  SchedulingExecutor executor{options()};
  executor.set_limits(
      {.callbacks = {{.callback = reader}},
       .chains = {{.chain = "deep", .callbacks = {writer, reader}, .latency = 1ns}}});
  executor.add_node(brakes_);
  executor.add_node(robot_);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return of(executor, reader, Quantity::response).checked >= 50; }));
  spinning.end();
  EXPECT_EQ(of(executor, "deep", Quantity::latency).checked, 0U);
}

INSTANTIATE_TEST_SUITE_P(Messages, MonitorOfPointers, testing::Values(true));
INSTANTIATE_TEST_SUITE_P(Messages, Monitor, testing::Bool(), [](const auto& of) {
  return of.param ? "asPointers" : "throughTheMiddleware";
});

}  // namespace
}  // namespace takt::test
