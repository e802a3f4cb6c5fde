// SPDX-License-Identifier: Apache-2.0
//
// Callbacks that wait inside for what other callbacks give.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <rcl_interfaces/srv/list_parameters.hpp>
#include <std_msgs/msg/int32.hpp>
#include <string>
#include <takt/os/memory.hpp>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using rcl_interfaces::srv::ListParameters;

class Waiting : public WithContext, public testing::WithParamInterface<int> {
 protected:
  // A timer of `priority` that calls a service and waits for the answer. Client and service are in
  // groups of their own, as rclcpp's multi-threaded executor needs it.
  void call_from_timer(SchedulingExecutor& executor, const rclcpp::Node::SharedPtr& server) {
    const auto node = std::make_shared<rclcpp::Node>("caller");
    const auto group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
    const auto client =
        node->create_client<ListParameters>(unique("answer"), rclcpp::ServicesQoS(), group);
    const auto service = server->create_service<ListParameters>(
        unique("answer"),
        [](const ListParameters::Request::SharedPtr, ListParameters::Response::SharedPtr response) {
          response->result.names = {"yes"};
        });
    std::atomic<int> answered{0};
    std::atomic<int> unanswered{0};
    const auto timer = node->create_wall_timer(5ms, [&] {
      auto answer = client->async_send_request(std::make_shared<ListParameters::Request>());
      if (answer.wait_for(150s) == std::future_status::ready &&
          answer.get()->result.names.size() == 1) {
        ++answered;
      } else {
        ++unanswered;
      }
    });
    executor.add_node(node);
    executor.add_node(server);
    Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] { return answered > 5 || unanswered > 0; }));
    spinning.end();
    EXPECT_EQ(unanswered, 0);
    EXPECT_GT(answered, 5);
  }
};

// Of the caller; clients and services are in between.
INSTANTIATE_TEST_SUITE_P(Priorities, Waiting, testing::Values(1, 20, 98));

TEST_P(Waiting, anAnswerComesWhateverThePriorities) {
  SchedulingExecutor executor{quiet()};
  executor.set_timing([](const CallbackId& id) {
    return id.kind == CallbackKind::timer ? Timing{.priority = GetParam()} : Timing{};
  });
  call_from_timer(executor, std::make_shared<rclcpp::Node>("server"));
}

// Far below what the calling thread uses of its stack.
bool deep_stack_is_resident() {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto below = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - (1U << 20U);
  unsigned char state = 0;
  mincore(reinterpret_cast<void*>(below / page * page), page, &state);
  return (state & 1U) != 0;
}

// Each has a thread of its own. Of one that the timing makes urgent all memory is there before.
TEST_F(Waiting, aServiceTakesAsMuchMemoryAsItUsesUnlessItIsUrgent) {
  const auto node = std::make_shared<rclcpp::Node>("server");
  using Resident = std::vector<bool>;
  const std::array<std::string, 2> names{unique("plain"), unique("urgent")};
  std::array<Resident, 2> resident;
  std::vector<rclcpp::ServiceBase::SharedPtr> services;
  for (std::size_t i = 0; i < names.size(); ++i) {
    services.push_back(node->create_service<ListParameters>(
        names[i], [&resident, i](const ListParameters::Request::SharedPtr,
                                 ListParameters::Response::SharedPtr) {
          resident[i].push_back(deep_stack_is_resident());
        }));
  }
  SchedulingExecutor executor{quiet()};
  if (!os::memory_locked()) {
    GTEST_SKIP() << "memory cannot be locked here";
  }
  executor.set_timing([&](const CallbackId& id) {
    return id.topic_or_service == "/" + names[1] ? Timing{.priority = 30} : Timing{};
  });
  executor.add_node(node);
  Spinning spinning{executor};
  const auto outside = std::make_shared<rclcpp::Node>("outside");
  for (const std::string& name : names) {
    const auto client = outside->create_client<ListParameters>(name);
    ASSERT_TRUE(client->wait_for_service(150s));
    auto answer = client->async_send_request(std::make_shared<ListParameters::Request>());
    ASSERT_EQ(rclcpp::spin_until_future_complete(outside, answer, 150s),
              rclcpp::FutureReturnCode::SUCCESS);
  }
  spinning.end();
  EXPECT_EQ(resident[0], Resident{false});
  EXPECT_EQ(resident[1], Resident{true});
}

// The caller and both services are callbacks of one Reentrant group.
TEST_F(Waiting, aServiceThatAsksAnotherServiceIsAnswered) {
  const auto node = std::make_shared<rclcpp::Node>("chain");
  const auto clients = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  const auto inner = node->create_service<ListParameters>(
      unique("inner"),
      [](const ListParameters::Request::SharedPtr, ListParameters::Response::SharedPtr response) {
        response->result.names = {"yes"};
      },
      rclcpp::ServicesQoS(), clients);
  const auto to_inner =
      node->create_client<ListParameters>(unique("inner"), rclcpp::ServicesQoS(), clients);
  const auto outer = node->create_service<ListParameters>(
      unique("outer"),
      [&](const ListParameters::Request::SharedPtr, ListParameters::Response::SharedPtr response) {
        auto answer = to_inner->async_send_request(std::make_shared<ListParameters::Request>());
        if (answer.wait_for(150s) == std::future_status::ready) {
          *response = *answer.get();
        }
      },
      rclcpp::ServicesQoS(), clients);
  const auto to_outer =
      node->create_client<ListParameters>(unique("outer"), rclcpp::ServicesQoS(), clients);
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  auto answer = to_outer->async_send_request(std::make_shared<ListParameters::Request>());
  ASSERT_EQ(answer.wait_for(150s), std::future_status::ready);
  EXPECT_EQ(answer.get()->result.names.size(), 1U);
}

// What no thread of its own helps: it waits for a message that its own core's callbacks give. Said
// of the callback, it is.
TEST_F(Waiting, aCallbackThatIsSaidToWaitIsGivenItsMessage) {
  const auto node = std::make_shared<rclcpp::Node>("waiter");
  const auto apart = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  std::promise<void> heard;
  auto future = heard.get_future();
  const auto out = node->create_publisher<std_msgs::msg::Int32>(unique("reply"), 1);
  rclcpp::SubscriptionOptions options;
  options.callback_group = apart;
  const auto in = node->create_subscription<std_msgs::msg::Int32>(
      unique("reply"), 1, [&](const std_msgs::msg::Int32&) { heard.set_value(); }, options);
  std::atomic<int> result{0};
  rclcpp::TimerBase::SharedPtr timer = node->create_wall_timer(10ms, [&] {
    timer->cancel();
    out->publish(std_msgs::msg::Int32{});
    result = future.wait_for(150s) == std::future_status::ready ? 1 : -1;
  });
  SchedulingExecutor executor{quiet()};
  executor.set_timing([](const CallbackId& id) {
    return id.kind == CallbackKind::timer ? Timing{.priority = 50, .waits = true} : Timing{};
  });
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return result != 0; }));
  EXPECT_EQ(result, 1);
}

TEST_F(Waiting, aThreadThatWaitsWithoutDeclaringItIsReportedByName) {
  const auto node = std::make_shared<rclcpp::Node>("sleeper");
  static std::atomic<int> reported;
  reported = 0;
  rcutils_logging_set_output_handler([](const rcutils_log_location_t*, int severity, const char*,
                                        rcutils_time_point_value_t, const char* format,
                                        va_list* arguments) {
    char text[1024];
    vsnprintf(text, sizeof text, format, *arguments);
    if (severity == RCUTILS_LOG_SEVERITY_WARN &&
        std::string{text}.find("'sleeper.timer0' has been waiting") != std::string::npos) {
      ++reported;
    }
  });
  std::atomic<bool> enough{false};
  const auto timer = node->create_wall_timer(1ms, [&] {
    while (!enough) {
      std::this_thread::sleep_for(5ms);
    }
  });
  auto options = quiet();
  options.report_waiting_after = 50ms;
  SchedulingExecutor executor{options};
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return reported > 0; }));
  enough = true;
  spinning.end();
  EXPECT_EQ(reported, 1);
  rcutils_logging_set_output_handler(rcutils_logging_console_output_handler);
}

// 80 of 100 ms: long before anybody would think that it waits for ever.
TEST_F(Waiting, aSleeperIsReportedByNameWhenAnotherNodeMissesItsDeadline) {
  const auto sleeper = std::make_shared<rclcpp::Node>("sleeper");
  const auto victim = std::make_shared<rclcpp::Node>("victim");
  static std::mutex mutex;
  static std::vector<std::string> reported;
  reported.clear();
  rcutils_logging_set_output_handler([](const rcutils_log_location_t*, int severity, const char*,
                                        rcutils_time_point_value_t, const char* format,
                                        va_list* arguments) {
    char text[1024];
    vsnprintf(text, sizeof text, format, *arguments);
    if (severity == RCUTILS_LOG_SEVERITY_WARN) {
      const std::lock_guard lock{mutex};
      reported.emplace_back(text);
    }
  });
  const auto find = [](const std::string& words) {
    const std::lock_guard lock{mutex};
    return std::ranges::count_if(
        reported, [&](const std::string& text) { return text.find(words) != std::string::npos; });
  };
  const auto sleeps = sleeper->create_wall_timer(100ms, [] { std::this_thread::sleep_for(80ms); });
  const auto runs = victim->create_wall_timer(10ms, [] {});
  SchedulingExecutor executor{quiet()};
  executor.add_node(sleeper);
  executor.add_node(victim);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return find("'sleeper.timer0' slept") > 0; }));
  EXPECT_TRUE(eventually([&] { return executor.statistics("sleeper.timer0").completed > 10; }));
  spinning.end();
  EXPECT_EQ(find("'sleeper.timer0' slept"), 1);
  EXPECT_EQ(find("'victim.timer0' missed its deadline"), 1);
  EXPECT_EQ(find("waits: true"), 1);
  rcutils_logging_set_output_handler(rcutils_logging_console_output_handler);
}

}  // namespace
}  // namespace takt::test
