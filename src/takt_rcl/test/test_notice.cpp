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
TEST(Notice, announces_what_was_pushed_and_not_told_yet_only_once) {
  detail::LocalQueue<Sample> queue{10, true, false};
  std::size_t told = 0;
  const auto push = [&] { queue.push({.shared = std::make_shared<const Sample>()}); };
  push();
  queue.notice.call(1);
  push();
  queue.notice.set([&](std::size_t count) { told += count; });
  EXPECT_EQ(told, 1U);
  queue.notice.call(1);
  EXPECT_EQ(told, 2U);
}

// A reader may find a message that nobody was told of yet.
TEST(Notice, does_not_announce_what_was_taken_before_it_was_told) {
  detail::LocalQueue<Sample> queue{10, true, false};
  detail::Parcel<Sample> parcel;
  queue.push({.shared = std::make_shared<const Sample>()});
  ASSERT_TRUE(queue.pop(parcel));
  queue.notice.call(1);
  std::size_t told = 0;
  queue.notice.set([&](std::size_t count) { told += count; });
  EXPECT_EQ(told, 0U);
}

struct Told {
  explicit Told(
      std::shared_ptr<detail::Notice::Turn> turn = std::make_shared<detail::Notice::Turn>())
      : notice{10, std::move(turn)} {}

  detail::Notice notice;
  std::atomic<std::size_t> first{0};
  std::atomic<std::size_t> second{0};
};

TEST(Notice, whoever_is_told_may_have_another_one_told_from_then_on) {
  const auto told = std::make_shared<Told>();
  told->notice.set([told](std::size_t count) {
    told->notice.set([&told = *told](std::size_t left) { told.second += left; });
    told->first += count;  // this one is there until it returns
  });
  ASSERT_TRUE(returns([told] { told->notice.call(2); }));
  EXPECT_EQ(told->first, 2U);
  EXPECT_EQ(told->second, 2U);  // nobody has taken them
  told->notice.call(1);
  EXPECT_EQ(told->first, 2U);
  EXPECT_EQ(told->second, 3U);
}

TEST(Notice, whoever_is_told_at_once_may_have_nobody_told_any_more) {
  const auto told = std::make_shared<Told>();
  told->notice.call(3);
  ASSERT_TRUE(returns([told] {
    told->notice.set([&told = *told](std::size_t count) {
      told.notice.set(nullptr);
      told.first += count;
    });
  }));
  told->notice.call(1);
  EXPECT_EQ(told->first, 3U);
}

TEST(Notice, whoever_is_told_may_cause_what_it_is_told_of_next) {
  const auto told = std::make_shared<Told>();
  told->notice.set([&told = *told](std::size_t count) {
    if (told.first.fetch_add(count) == 0) {
      told.notice.call(1);
    }
  });
  ASSERT_TRUE(returns([told] { told->notice.call(1); }));
  EXPECT_EQ(told->first, 2U);
}

// As a subscription's: of messages that come by pointer, and of those from elsewhere.
void listen_by_turns(Told& one, Told& other) {
  one.notice.set([&one, &other](std::size_t count) {
    one.first += count;
    one.notice.gone(count);
    listen_by_turns(other, one);
  });
}

TEST(Notice, two_that_take_turns_may_be_told_at_once_and_either_may_set_what_both_tell) {
  const auto turn = std::make_shared<detail::Notice::Turn>();
  const auto here = std::make_shared<Told>(turn);
  const auto elsewhere = std::make_shared<Told>(turn);
  constexpr std::size_t rounds = 10'000;
  listen_by_turns(*here, *elsewhere);
  const auto call = [](const std::shared_ptr<Told>& told, const std::shared_ptr<Told>& keeps) {
    return [told, keeps] {
      for (std::size_t i = 0; i < rounds; ++i) {
        told->notice.call(1);
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
