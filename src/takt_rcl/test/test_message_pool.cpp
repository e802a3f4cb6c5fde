// SPDX-License-Identifier: Apache-2.0
//
// A message of a pool is its users' or the pool's, never both.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <takt/rcl/message_pool.hpp>
#include <thread>
#include <vector>

namespace takt::test {
namespace {

struct Message {
  std::size_t first = 0;
  std::size_t last = 0;
};
using Pool = detail::MessagePool<Message>;

TEST(MessagePool, gives_a_message_again_when_its_last_user_has_let_go) {
  Pool pool;
  pool.grow(2);
  auto message = pool.get();
  const Message* const address = message.get();
  auto other = message;
  message.reset();
  EXPECT_NE(pool.get().get(), address) << "somebody has it still";
  other.reset();
  const auto one = pool.get();
  const auto two = pool.get();
  EXPECT_TRUE(one.get() == address || two.get() == address);
}

TEST(MessagePool, has_no_message_that_a_weak_pointer_still_reaches) {
  Pool pool;
  pool.grow(2);
  auto message = pool.get();
  const std::weak_ptr<const Message> weak = message;
  message.reset();
  EXPECT_FALSE(weak.lock()) << "a reader of it would see what the next user writes";
}

TEST(MessagePool, is_outlived_by_its_messages) {
  auto pool = std::make_unique<Pool>();
  pool->grow(2);
  auto one = pool->get();
  auto other = pool->get();
  other.reset();
  pool->shrink(1);
  pool.reset();
  one->first = 1;
  one.reset();
}

// A writer of new messages, and readers that have a weak pointer to the newest: a message does not
// change as long as a reader has it.
TEST(MessagePool, does_not_change_a_message_under_a_reader_that_came_by_a_weak_pointer) {
  constexpr std::size_t rounds = 20'000;
  Pool pool;
  pool.grow(3);
  std::mutex mutex;  // of `newest` alone
  std::weak_ptr<const Message> newest;
  std::atomic<bool> ends{false};
  std::atomic<bool> torn{false};
  const auto read = [&] {
    while (!ends) {
      std::weak_ptr<const Message> weak;
      {
        const std::lock_guard lock{mutex};
        weak = newest;
      }
      for (int i = 0; i < 4; ++i) {
        if (const auto message = weak.lock()) {
          const std::size_t before = message->first;
          std::this_thread::yield();
          torn = torn || message->last != before || message->first != before;
        }
      }
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) readers.emplace_back(read);
  for (std::size_t round = 1; round <= rounds; ++round) {
    const auto message = pool.get();
    message->first = round;
    message->last = round;
    const std::lock_guard lock{mutex};
    newest = message;
  }
  ends = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_FALSE(torn);
}

TEST(MessagePool, needs_no_more_messages_than_are_used_at_once) {
  Pool pool;
  pool.grow(4);
  std::set<const Message*> distinct;
  for (int round = 0; round < 100; ++round) {
    std::vector<std::shared_ptr<Message>> used;
    for (int i = 0; i < 4; ++i) distinct.insert(used.emplace_back(pool.get()).get());
  }
  EXPECT_EQ(distinct.size(), 4U);
}

}  // namespace
}  // namespace takt::test
