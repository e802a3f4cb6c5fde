// SPDX-License-Identifier: Apache-2.0
//
// What a callback reads: other callbacks of its node, run before it, on its thread.
#include <algorithm>
#include <rcl_interfaces/srv/list_parameters.hpp>
#include <std_msgs/msg/int32.hpp>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using rcl_interfaces::srv::ListParameters;
using std_msgs::msg::Int32;

// The timers of nodes, which read; everything else has the lowest priority.
takt_rclcpp::TimingRule timers_read(const std::string& topic,
                                    std::chrono::nanoseconds max_age = {}) {
  return [=](const CallbackId& id) {
    if (id.kind != CallbackKind::timer || id.node != "/reader") {
      return Timing{.priority = 2};
    }
    return Timing{.priority = 80, .reads = {{.topic = "/" + topic, .max_age = max_age}}};
  };
}

// It spins a moment before it has the callbacks of its nodes.
bool is_known(const SchedulingExecutor& executor, const std::string& name) {
  const std::vector<std::string> names = executor.callbacks();
  return std::ranges::find(names, name) != names.end();
}

// How many callbacks are inside at once.
class Crowd {
 public:
  template <class Act>
  void enter(Act act) {
    const int now = ++inside_;
    int before = most_;
    while (before < now && !most_.compare_exchange_weak(before, now)) {
    }
    act();
    --inside_;
  }
  [[nodiscard]] int most() const { return most_; }

 private:
  std::atomic<int> inside_{0};
  std::atomic<int> most_{0};
};

// Calls until it goes.
class Repeated {
 public:
  template <class Act>
  Repeated(std::chrono::nanoseconds distance, Act act)
      : thread_{[this, distance, act] {
          while (!ends_) {
            act();
            os::sleep_until(os::now() + distance);
          }
        }} {}
  ~Repeated() {
    ends_ = true;
    thread_.join();
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;
  Repeated(Repeated&&) = delete;
  Repeated& operator=(Repeated&&) = delete;

 private:
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

class Reads : public WithContext {
 protected:
  static rclcpp::Node::SharedPtr reader(bool pointers = false) {
    return std::make_shared<rclcpp::Node>("reader",
                                          rclcpp::NodeOptions{}.use_intra_process_comms(pointers));
  }
  static std::string topic() { return unique("scan"); }
  static std::uint64_t delivered(const SchedulingExecutor& executor) {
    try {
      return executor.statistics("reader.timer0").delivered;
    } catch (const std::out_of_range&) {  // it is made anew
      return 0;
    }
  }
};

// Whether messages come as pointers or not, and whoever runs the subscription's callback.
TEST_F(Reads, freshDataIsNotOld) {
  for (const bool pointers : {false, true}) {
    const auto node = reader(pointers);
    std::atomic<int> heard{0};
    std::atomic<int> rounds{0};
    const auto in = node->create_subscription<Int32>(topic(), 10, [&](const Int32&) { ++heard; });
    const auto out = node->create_publisher<Int32>(topic(), 10);
    const auto timer = node->create_wall_timer(10ms, [&] { rounds += heard > 0 ? 1 : 0; });
    SchedulingExecutor executor{quiet()};
    executor.set_timing(timers_read(topic(), 1h));
    executor.add_node(node);
    Spinning spinning{executor};
    ASSERT_TRUE(eventually([&] { return is_known(executor, "reader.timer0"); }));
    ASSERT_TRUE(eventually([&] { return executor.statistics("reader.timer0").completed > 0; }));
    std::uint64_t before = 0;
    {
      const Repeated publishing{2ms, [&] { out->publish(Int32{}); }};
      ASSERT_TRUE(eventually([&] { return rounds > 2; }));
      before = executor.statistics("reader.timer0").age_violations;
      ASSERT_TRUE(eventually([&] { return rounds > 20; }));
    }
    spinning.end();
    const auto statistics = executor.statistics("reader.timer0");
    EXPECT_EQ(statistics.age_violations, before) << pointers;
    EXPECT_LT(before, statistics.completed) << pointers;
    EXPECT_GT(statistics.worst_age, 0ns) << pointers;
  }
}

TEST_F(Reads, oldDataIsReported) {
  const auto node = reader();
  std::atomic<bool> heard{false};
  const auto in =
      node->create_subscription<Int32>(topic(), 10, [&](const Int32&) { heard = true; });
  const auto out = node->create_publisher<Int32>(topic(), 10);
  const auto timer = node->create_wall_timer(2ms, [] {});
  std::atomic<int> aged{0};
  SchedulingExecutor executor{quiet()};
  executor.set_timing(timers_read(topic(), 1ms));
  executor.set_handlers({.age_violation = [&](const executor::AgeViolation& violation) {
    aged += violation.age < std::chrono::nanoseconds::max() ? 1 : 0;
  }});
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] {
    if (!heard) {
      out->publish(Int32{});
    }
    return aged > 3;
  }));
}

// A service has a thread of its own; what the timer reads waits for it, as the timer does.
// Something else keeps the core from the service, in the middle, and from the subscription's own
// job.
TEST_F(Reads, aServiceOfTheGroupIsWaitedFor) {
  const auto node = reader();
  Crowd crowd;
  std::atomic<int> heard{0};
  std::atomic<int> served{0};
  const auto in = node->create_subscription<Int32>(topic(), 10, [&](const Int32&) {
    crowd.enter([] { burn(50us); });
    ++heard;
  });
  const auto timer = node->create_wall_timer(3ms, [&] { crowd.enter([] { burn(50us); }); });
  const auto service = node->create_service<ListParameters>(
      unique("list"),
      [&](const ListParameters::Request::SharedPtr, ListParameters::Response::SharedPtr) {
        crowd.enter([] { burn(5ms); });
        ++served;
      });
  const auto other = std::make_shared<rclcpp::Node>("other");
  const auto out = other->create_publisher<Int32>(topic(), 10);
  const auto client = other->create_client<ListParameters>(unique("list"));
  const auto between = std::make_shared<rclcpp::Node>("between");
  const auto busy = between->create_wall_timer(3700us, [] { burn(2ms); });
  SchedulingExecutor executor{quiet()};
  executor.set_timing([rule = timers_read(topic())](const CallbackId& id) {
    return id.node == "/between" ? Timing{.priority = 40} : rule(id);
  });
  executor.add_node(node);
  executor.add_node(other);
  executor.add_node(between);
  Spinning spinning{executor};
  {
    const Repeated publishing{1ms, [&] { out->publish(Int32{}); }};
    const Repeated asking{
        40ms, [&] { client->async_send_request(std::make_shared<ListParameters::Request>()); }};
    EXPECT_TRUE(eventually([&] { return served > 20 && heard > 20; })) << served << " " << heard;
  }
  spinning.end();
  EXPECT_EQ(crowd.most(), 1);
}

// Its own job is preempted by the timer that reads it.
TEST_F(Reads, aReentrantSubscriptionNeverRunsTwiceAtOnce) {
  const auto node = reader();
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  rclcpp::SubscriptionOptions options;
  options.callback_group = group;
  Crowd crowd;
  std::atomic<int> heard{0};
  const auto in = node->create_subscription<Int32>(
      topic(), 10,
      [&](const Int32&) {
        crowd.enter([] { burn(3ms); });
        ++heard;
      },
      options);
  const auto out = node->create_publisher<Int32>(topic(), 10);
  const auto timer = node->create_wall_timer(2ms, [] {});
  SchedulingExecutor executor{quiet()};
  executor.set_timing(timers_read(topic()));
  executor.add_node(node);
  Spinning spinning{executor};
  {
    const Repeated publishing{20ms, [&] {
                                out->publish(Int32{});
                                out->publish(Int32{});
                              }};
    EXPECT_TRUE(eventually([&] { return heard > 60 && delivered(executor) > 20; }));
  }
  spinning.end();
  EXPECT_EQ(crowd.most(), 1);
}

// Other nodes run on, and it gets what it reads when that is there.
TEST_F(Reads, whatComesLaterIsReadFromThenOn) {
  const auto first = std::make_shared<rclcpp::Node>("first");
  std::atomic<int> others{0};
  const auto other = first->create_wall_timer(1ms, [&] { ++others; });
  const auto out = first->create_publisher<Int32>(topic(), 10);
  SchedulingExecutor executor{quiet()};
  executor.set_timing(timers_read(topic()));
  executor.add_node(first);
  Spinning spinning{executor};
  ASSERT_TRUE(eventually([&] { return others > 0; }));
  const auto node = reader();
  std::atomic<int> calls{0};
  const auto timer = node->create_wall_timer(1ms, [&] { ++calls; });
  executor.add_node(node);
  ASSERT_TRUE(eventually([&] { return calls > 3 || spinning.has_ended(); }));
  ASSERT_FALSE(spinning.has_ended());
  const int before = others;
  EXPECT_TRUE(eventually([&] { return others > before + 3; }));
  for (int round = 0; round < 3; ++round) {
    auto in = node->create_subscription<Int32>(topic(), 10, [](const Int32&) {});
    EXPECT_TRUE(eventually([&] {
      out->publish(Int32{});
      return delivered(executor) > 3;
    })) << round;
    in.reset();
    EXPECT_TRUE(eventually([&] { return delivered(executor) == 0; })) << round;
    const int called = calls;
    EXPECT_TRUE(eventually([&] { return calls > called + 3; })) << round;
  }
  spinning.end();
}

// What cannot be is its node's affair, once others run.
TEST_F(Reads, aNodeWhoseTimingCannotBeIsLeftOut) {
  const auto first = std::make_shared<rclcpp::Node>("first");
  std::atomic<int> others{0};
  const auto other = first->create_wall_timer(1ms, [&] { ++others; });
  SchedulingExecutor executor{quiet()};
  executor.set_timing([](const CallbackId& id) {
    return id.node == "/misplaced" ? Timing{.cpu = 4000} : Timing{};
  });
  executor.add_node(first);
  Spinning spinning{executor};
  ASSERT_TRUE(eventually([&] { return others > 0; }));
  const auto misplaced = std::make_shared<rclcpp::Node>("misplaced");
  std::atomic<int> calls{0};
  const auto timer = misplaced->create_wall_timer(1ms, [&] { ++calls; });
  const auto fitting = std::make_shared<rclcpp::Node>("fitting");
  std::atomic<int> fits{0};
  const auto its_timer = fitting->create_wall_timer(1ms, [&] { ++fits; });
  executor.add_node(misplaced);
  executor.add_node(fitting);
  EXPECT_TRUE(eventually([&] { return fits > 3 || spinning.has_ended(); }));
  ASSERT_FALSE(spinning.has_ended());
  const int before = others;
  EXPECT_TRUE(eventually([&] { return others > before + 3; }));
  EXPECT_EQ(calls, 0);
  const auto names = executor.callbacks();
  EXPECT_EQ(std::ranges::count(names, "misplaced.timer0"), 0);
  spinning.end();
}

}  // namespace
}  // namespace takt::test
