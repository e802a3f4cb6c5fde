// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <takt/os/event.hpp>
#include <takt_interfaces/msg/sample.hpp>
#include <thread>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;

TEST(Callback, announces_every_message) {
  const Link<Sample> link{"announce"};
  ASSERT_TRUE(link.connect());
  std::atomic<std::size_t> announced{0};
  link.in->set_on_new_message_callback([&](std::size_t count) noexcept { announced += count; });
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(link.out->publish(Sample{}));
  EXPECT_TRUE(eventually([&] { return announced == 10; }));
}

// What an executor must know: no thread switch happens here, so the callback's time is the
// publisher's. Other middlewares may differ; the test says so then.
TEST(Callback, runs_on_the_publishing_thread_within_one_process) {
  const Link<Sample> link{"same_thread"};
  ASSERT_TRUE(link.connect());
  std::atomic<bool> same{false};
  const auto publisher = std::this_thread::get_id();
  link.in->set_on_new_message_callback(
      [&](std::size_t) noexcept { same = std::this_thread::get_id() == publisher; });
  ASSERT_TRUE(link.out->publish(Sample{}));
  EXPECT_TRUE(same);
}

TEST(Callback, set_late_reports_the_waiting_messages_once) {
  const Link<Sample> link{"set_late"};
  ASSERT_TRUE(link.connect());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(link.out->publish(Sample{}));
  ASSERT_TRUE(link.out->wait_for_all_acked(patience));
  std::atomic<std::size_t> calls{0};
  std::atomic<std::size_t> announced{0};
  link.in->set_on_new_message_callback([&](std::size_t count) noexcept {
    ++calls;
    announced += count;
  });
  EXPECT_EQ(calls, 1U);
  EXPECT_EQ(announced, 3U);
}

TEST(Callback, a_take_may_find_less_than_was_announced) {
  const Link<Sample> link{"dropped", QoS{1}};
  ASSERT_TRUE(link.connect());
  std::atomic<std::size_t> announced{0};
  link.in->set_on_new_message_callback([&](std::size_t count) noexcept { announced += count; });
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(link.out->publish(Sample{}));
  ASSERT_TRUE(eventually([&] { return announced == 5; }));
  Sample got;
  MessageInfo info;
  EXPECT_TRUE(link.in->take(got, info));
  EXPECT_TRUE(link.in->take(got, info).nothing_taken());
}

TEST(Callback, is_replaced_and_cleared) {
  const Link<Sample> link{"replace"};
  ASSERT_TRUE(link.connect());
  std::atomic<std::size_t> first{0};
  std::atomic<std::size_t> second{0};
  link.in->set_on_new_message_callback([&](std::size_t count) noexcept { first += count; });
  ASSERT_TRUE(link.out->publish(Sample{}));
  ASSERT_TRUE(eventually([&] { return first == 1; }));
  link.in->set_on_new_message_callback([&](std::size_t count) noexcept { second += count; });
  EXPECT_EQ(second, 1U);  // which nobody has taken
  ASSERT_TRUE(link.out->publish(Sample{}));
  ASSERT_TRUE(eventually([&] { return second == 2; }));
  link.in->clear_on_new_message_callback();
  ASSERT_TRUE(link.out->publish(Sample{}));
  ASSERT_TRUE(link.out->wait_for_all_acked(patience));
  EXPECT_EQ(first, 1U);
  EXPECT_EQ(second, 2U);
}

TEST(Callback, frees_what_it_captured_when_replaced_cleared_or_destroyed) {
  Link<Sample> link{"captures"};
  const auto captured = std::make_shared<int>(0);
  const auto set = [&] {
    link.in->set_on_new_message_callback([captured](std::size_t) noexcept {});
  };
  set();
  set();
  EXPECT_EQ(captured.use_count(), 2);
  link.in->clear_on_new_message_callback();
  EXPECT_EQ(captured.use_count(), 1);
  set();
  link.in.reset();
  EXPECT_EQ(captured.use_count(), 1);
}

TEST(Callback, may_be_changed_and_destroyed_while_messages_arrive) {
  Link<Sample> link{"race"};
  ASSERT_TRUE(link.connect());
  std::atomic<bool> stop{false};
  std::thread publishing{[&] {
    while (!stop) static_cast<void>(link.out->publish(Sample{}));
  }};
  std::atomic<std::size_t> calls{0};
  for (int i = 0; i < 200; ++i) {
    // Owned by the callback: a call after the replacement would be a use after free.
    auto own = std::make_shared<std::atomic<std::size_t>>(0);
    link.in->set_on_new_message_callback([own, &calls](std::size_t) noexcept {
      ++*own;
      ++calls;
    });
  }
  EXPECT_TRUE(eventually([&] { return calls > 0; }));
  link.in.reset();
  stop = true;
  publishing.join();
}

TEST(Callback, wakes_a_thread_that_takes_every_message_of_several_publishing_threads) {
  constexpr std::uint64_t per_thread = 1000;
  const Link<Sample> link{"threads", QoS{3 * per_thread}};
  ASSERT_TRUE(link.connect());
  os::Event arrived;
  link.in->set_on_new_message_callback([&](std::size_t) noexcept { arrived.notify(); });

  std::vector<std::uint64_t> taken;
  std::thread taking{[&] {
    Sample got;
    MessageInfo info;
    const auto deadline = os::now() + patience;
    while (taken.size() < 3 * per_thread && os::now() < deadline) {
      while (link.in->take(got, info)) taken.push_back(got.sequence);
      if (taken.size() < 3 * per_thread) arrived.wait_until(deadline);
    }
  }};
  std::atomic<std::size_t> failed{0};
  std::vector<std::thread> publishing;
  for (std::uint64_t thread = 0; thread < 3; ++thread) {
    publishing.emplace_back([&, thread] {
      Sample sample;
      for (std::uint64_t i = 0; i < per_thread; ++i) {
        sample.sequence = thread * per_thread + i;
        if (!link.out->publish(sample)) ++failed;
      }
    });
  }
  for (auto& thread : publishing) thread.join();
  taking.join();

  EXPECT_EQ(failed, 0U);
  std::vector<std::uint64_t> expected(3 * per_thread);
  std::iota(expected.begin(), expected.end(), 0U);
  std::sort(taken.begin(), taken.end());
  EXPECT_EQ(taken, expected);
}

TEST(Callback, a_reply_through_two_threads_comes_back_every_time) {
  const Link<Sample> there{"there"};
  const Link<Sample> back{"back"};
  ASSERT_TRUE(there.connect());
  ASSERT_TRUE(back.connect());
  os::Event request;
  os::Event reply;
  there.in->set_on_new_message_callback([&](std::size_t) noexcept { request.notify(); });
  back.in->set_on_new_message_callback([&](std::size_t) noexcept { reply.notify(); });
  std::thread echo{[&] {
    Sample sample;
    MessageInfo info;
    do {
      if (!request.wait_until(os::now() + patience)) return;
      while (there.in->take(sample, info)) static_cast<void>(back.out->publish(sample));
    } while (!sample.last);
  }};
  Sample sample;
  Sample got;
  MessageInfo info;
  std::uint64_t answered = 0;
  for (sample.sequence = 0; sample.sequence < 500; ++sample.sequence) {
    sample.last = sample.sequence == 499;
    if (!there.out->publish(sample) || !reply.wait_until(os::now() + patience)) break;
    if (back.in->take(got, info) && got.sequence == sample.sequence) ++answered;
  }
  echo.join();
  EXPECT_EQ(answered, 500U);
}

}  // namespace
}  // namespace takt::test
