// SPDX-License-Identifier: Apache-2.0
//
// What readers, topics and names need is given back when they go: counted in blocks of the heap
// that live, by replacing operator new and delete for the whole process.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <takt/rcl/local_channel.hpp>
#include <takt_interfaces/msg/sample.hpp>
#include <utility>
#include <vector>

#include "node_handle.hpp"
#include "support.hpp"

namespace {
std::atomic<std::int64_t> living{0};
}

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc{};
  ++living;
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) --living;
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  if (memory != nullptr) --living;
  std::free(memory);
}

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;
using Channel = detail::LocalChannel<Sample>;
using Queue = Channel::Queue;

// As a publisher and a reader of one topic do it: one message by reference, one as unique_ptr.
void hand_over(Channel& channel, Queue& queue) {
  detail::Parcel<Sample> parcel;
  queue.push({.shared = channel.pool().get()});
  ASSERT_TRUE(queue.pop(parcel));
  queue.push({.shared = channel.share(std::make_unique<Sample>())});
  ASSERT_TRUE(queue.pop(parcel));
}

std::shared_ptr<Queue> reader(std::size_t depth = 10) {
  return std::make_shared<Queue>(depth, true, false);
}

TEST(Pools, readers_that_came_and_went_leave_nothing_in_the_channel) {
  Channel channel;
  const auto first = reader();
  channel.add(first);
  for (int i = 0; i < 100; ++i) hand_over(channel, *first);
  const std::int64_t before = living;
  for (int i = 0; i < 1000; ++i) {
    const auto other = reader();
    channel.add(other);
    hand_over(channel, *other);
    channel.remove(other);
  }
  EXPECT_EQ(channel.queues()->size(), 1U);
  for (int i = 0; i < 100; ++i) hand_over(channel, *first);
  EXPECT_EQ(living, before);
}

TEST(Pools, many_readers_at_once_leave_nothing_in_the_channel_either) {
  Channel channel;
  const auto first = reader();
  channel.add(first);
  {
    std::vector<std::shared_ptr<Sample>> all;  // that the pool may keep for one reader
    for (std::size_t i = 0; i < first->depth() + 2; ++i) all.push_back(channel.pool().get());
  }
  const std::int64_t before = living;
  {
    // Each keeps as many messages as it may, and some of them outlive it.
    std::vector<std::shared_ptr<Queue>> others;
    for (int i = 0; i < 100; ++i) channel.add(others.emplace_back(reader()));
    for (const auto& other : others) {
      for (int i = 0; i < 5; ++i) other->push({.shared = channel.pool().get()});
      for (int i = 0; i < 5; ++i) {
        other->push({.shared = channel.share(std::make_unique<Sample>())});
      }
    }
    for (const auto& other : others) channel.remove(other);
  }
  for (int i = 0; i < 100; ++i) hand_over(channel, *first);
  EXPECT_EQ(living, before);
}

TEST(Pools, a_channel_without_readers_keeps_no_message) {
  Channel channel;
  const auto only = reader();
  const std::int64_t before = living;
  channel.add(only);
  hand_over(channel, *only);
  channel.remove(only);
  EXPECT_EQ(living, before);
}

// Made without their Node, which hides them.
TEST(Pools, topics_that_came_and_went_leave_nothing_in_the_context) {
  const auto context = std::make_shared<detail::ContextHandle>(0, nullptr, ContextOptions{});
  detail::NodeHandle node{context, "topics", ""};
  const auto stays = detail::find_channel<Sample>(node, "/stays");
  for (int i = 0; i < 100; ++i) {
    const auto channel = detail::find_channel<Sample>(node, "/topic" + std::to_string(i));
    EXPECT_EQ(detail::find_channel<Sample>(node, "/topic" + std::to_string(i)), channel);
    EXPECT_EQ(context->channels.size(), 2U);
  }
  EXPECT_EQ(context->channels.size(), 1U);
  EXPECT_EQ(detail::find_channel<Sample>(node, "/stays"), stays);
}

TEST(Pools, the_name_of_a_subscription_is_free_when_it_has_gone) {
  const Context context;
  const Node node{context, "names"};
  const std::string topic = unique_topic("names");
  const auto subscribe = [&](const std::string& to) {
    return node.create_subscription<Sample>(to, QoS{1});
  };
  for (int i = 0; i < 3; ++i) {
    const auto one = subscribe(topic);
    EXPECT_EQ(one->get_name(), "names." + topic);
    EXPECT_EQ(subscribe(topic)->get_name(), "names." + topic + "2");
    EXPECT_EQ(subscribe(topic + "2")->get_name(), "names." + topic + "2");
  }
  const auto second_of_first = std::pair{subscribe(topic), subscribe(topic)};
  EXPECT_EQ(subscribe(topic + "2")->get_name(), "names." + topic + "22");
}

}  // namespace
}  // namespace takt::test
