// SPDX-License-Identifier: Apache-2.0
//
// Every form of callback, for messages by pointer and through the middleware, run by an executor.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <takt_interfaces/msg/sample.hpp>

#include "executor_support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;

class MessageCallbackForms : public testing::TestWithParam<bool> {
 protected:
  // Publishes 0, 1, 2 and runs the callback until it has seen them; checks their order.
  template <class Function>
  void expect_three(Function make) {
    const Context context{ContextOptions{.use_intra_process = GetParam()}};
    const Node node{context, "forms"};
    const std::string topic = unique_topic("forms");
    std::atomic<std::uint64_t> received{0};
    const auto note = [&received](const Sample& message) {
      EXPECT_EQ(message.sequence, received);
      ++received;
    };
    const auto in = node.create_subscription<Sample>(topic, QoS{10}, make(note));
    const auto out = node.create_publisher<Sample>(topic, QoS{10});
    ASSERT_EQ(in->uses_intra_process(), GetParam());
    ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 1; }));
    SchedulingExecutor executor{quiet()};
    executor.add(in, {.priority = 10});
    executor.start();
    for (std::uint64_t i = 0; i < 3; ++i) {
      Sample sample;
      sample.sequence = i;
      ASSERT_TRUE(out->publish(sample));
    }
    EXPECT_TRUE(eventually([&] { return received == 3; }));
    executor.stop();
    EXPECT_EQ(executor.statistics(in->get_name()).skipped, 0U);
  }
};

TEST_P(MessageCallbackForms, const_reference) {
  expect_three([](auto note) { return [note](const Sample& message) { note(message); }; });
}

TEST_P(MessageCallbackForms, const_reference_with_info) {
  expect_three([](auto note) {
    return [note](const Sample& message, const MessageInfo& info) {
      EXPECT_EQ(info.from_intra_process, GetParam());
      EXPECT_GT(info.source_timestamp.time_since_epoch().count(), 0);
      note(message);
    };
  });
}

TEST_P(MessageCallbackForms, shared_pointer) {
  expect_three(
      [](auto note) { return [note](std::shared_ptr<const Sample> message) { note(*message); }; });
}

TEST_P(MessageCallbackForms, shared_pointer_by_reference) {
  expect_three([](auto note) {
    return [note](const std::shared_ptr<const Sample>& message) { note(*message); };
  });
}

TEST_P(MessageCallbackForms, shared_pointer_with_info) {
  expect_three([](auto note) {
    return [note](std::shared_ptr<const Sample> message, const MessageInfo& info) {
      EXPECT_EQ(info.from_intra_process, GetParam());
      note(*message);
    };
  });
}

TEST_P(MessageCallbackForms, unique_pointer) {
  expect_three([](auto note) {
    return [note](std::unique_ptr<Sample> message) {
      note(*message);
      message->sequence = 99;  // it is ours
    };
  });
}

TEST_P(MessageCallbackForms, unique_pointer_with_info) {
  expect_three([](auto note) {
    return [note](std::unique_ptr<Sample> message, const MessageInfo& info) {
      EXPECT_EQ(info.from_intra_process, GetParam());
      note(*message);
    };
  });
}

TEST_P(MessageCallbackForms, generic_function_gets_a_reference) {
  expect_three([](auto note) { return [note](const auto& message) { note(message); }; });
}

INSTANTIATE_TEST_SUITE_P(Transport, MessageCallbackForms, testing::Bool(),
                         [](const auto& transport) {
                           return transport.param ? "by_pointer" : "through_the_middleware";
                         });

TEST(MessageCallbackForms, may_change_what_they_capture) {
  const Context context;
  const Node node{context, "mutable"};
  const std::string topic = unique_topic("mutable");
  std::uint64_t last = 0;
  const auto in = node.create_subscription<Sample>(
      topic, QoS{10}, [&last, count = std::uint64_t{0}](const Sample&) mutable { last = ++count; });
  const auto out = node.create_publisher<Sample>(topic, QoS{10});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(out->publish(Sample{}));
  in->deliver_pending();
  EXPECT_EQ(last, 3U);
}

}  // namespace
}  // namespace takt::test
