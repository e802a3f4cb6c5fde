// SPDX-License-Identifier: Apache-2.0
//
// Who is told of messages that wait, how many there are, and what whoever is told may do.
#include <atomic>
#include <cstddef>
#include <future>
#include <memory>
#include <takt/rcl/local_queue.hpp>
#include <takt_interfaces/msg/sample.hpp>
#include <utility>

#include "support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;

// A publisher pushes to all readers first and tells them afterwards.
TEST(Notice, announces_what_was_pushed_and_not_reported_yet_only_once) {
  detail::LocalQueue<Sample> queue{10, true, false};
  std::size_t notified = 0;
  const auto push = [&] { queue.push({.shared = std::make_shared<const Sample>()}); };
  push();
  queue.notice.call(1);
  push();
  queue.notice.set([&](std::size_t count) { notified += count; });
  EXPECT_EQ(notified, 1U);
  queue.notice.call(1);
  EXPECT_EQ(notified, 2U);
}

// A reader may find a message that nobody was told of yet.
TEST(Notice, does_not_announce_messages_taken_before_the_notification) {
  detail::LocalQueue<Sample> queue{10, true, false};
  detail::Parcel<Sample> parcel;
  queue.push({.shared = std::make_shared<const Sample>()});
  ASSERT_TRUE(queue.pop(parcel));
  queue.notice.call(1);
  std::size_t notified = 0;
  queue.notice.set([&](std::size_t count) { notified += count; });
  EXPECT_EQ(notified, 0U);
}

struct Notified {
  explicit Notified(
      std::shared_ptr<detail::Notice::Turn> turn = std::make_shared<detail::Notice::Turn>())
      : notice{10, std::move(turn)} {}

  detail::Notice notice;
  std::atomic<std::size_t> first{0};
  std::atomic<std::size_t> second{0};
};

TEST(Notice, a_listener_may_set_its_successor) {
  const auto notified = std::make_shared<Notified>();
  notified->notice.set([notified](std::size_t count) {
    notified->notice.set([&notified = *notified](std::size_t left) { notified.second += left; });
    notified->first += count;  // this one is there until it returns
  });
  ASSERT_TRUE(returns([notified] { notified->notice.call(2); }));
  EXPECT_EQ(notified->first, 2U);
  EXPECT_EQ(notified->second, 2U);  // nobody has taken them
  notified->notice.call(1);
  EXPECT_EQ(notified->first, 2U);
  EXPECT_EQ(notified->second, 3U);
}

TEST(Notice, a_listener_that_is_called_at_once_may_remove_itself) {
  const auto notified = std::make_shared<Notified>();
  notified->notice.call(3);
  ASSERT_TRUE(returns([notified] {
    notified->notice.set([&notified = *notified](std::size_t count) {
      notified.notice.set(nullptr);
      notified.first += count;
    });
  }));
  notified->notice.call(1);
  EXPECT_EQ(notified->first, 3U);
}

TEST(Notice, a_listener_may_cause_its_next_notification) {
  const auto notified = std::make_shared<Notified>();
  notified->notice.set([&notified = *notified](std::size_t count) {
    if (notified.first.fetch_add(count) == 0) {
      notified.notice.call(1);
    }
  });
  ASSERT_TRUE(returns([notified] { notified->notice.call(1); }));
  EXPECT_EQ(notified->first, 2U);
}

// As a subscription's: of messages that come by pointer, and of those from elsewhere.
void listen_by_turns(Notified& one, Notified& other) {
  one.notice.set([&one, &other](std::size_t count) {
    one.first += count;
    one.notice.gone(count);
    listen_by_turns(other, one);
  });
}

TEST(Notice, two_that_take_turns_may_be_notified_at_once_and_either_may_set_both_listeners) {
  const auto turn = std::make_shared<detail::Notice::Turn>();
  const auto here = std::make_shared<Notified>(turn);
  const auto elsewhere = std::make_shared<Notified>(turn);
  constexpr std::size_t rounds = 10'000;
  listen_by_turns(*here, *elsewhere);
  const auto call = [](const std::shared_ptr<Notified>& notified,
                       const std::shared_ptr<Notified>& keeps) {
    return [notified, keeps] {
      for (std::size_t i = 0; i < rounds; ++i) {
        notified->notice.call(1);
      }
    };
  };
  auto beside = std::async(std::launch::async, [&] { return returns(call(here, elsewhere)); });
  EXPECT_TRUE(returns(call(elsewhere, here)));
  EXPECT_TRUE(beside.get());
  EXPECT_EQ(here->first, rounds);
}

}  // namespace
}  // namespace takt::test
