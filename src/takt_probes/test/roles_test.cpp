// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/roles.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <functional>

#include "recorded.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

/// A link whose other end is a function: what comes back for each message that is sent.
class ScriptedLink : public Link {
 public:
  using Answer = std::function<void(const Message&, std::deque<Message>&)>;
  explicit ScriptedLink(Answer answer) : answer_{std::move(answer)} {}

  bool connect(os::TimePoint /*deadline*/) override { return true; }
  bool send(const Message& message) noexcept override {
    sent.push_back(message);
    if (fail_after && sent.size() > *fail_after) {
      return false;
    }
    answer_(message, inbox);
    return true;
  }
  bool reply() noexcept override {
    replies.push_back(taken_);
    return true;
  }
  std::optional<Message> receive(os::TimePoint deadline) noexcept override {
    if (inbox.empty()) {
      if (deadline != os::TimePoint::max()) {
        os::sleep_until(deadline);
      }
      return {};
    }
    taken_ = inbox.front();
    inbox.pop_front();
    return taken_;
  }
  void leave() noexcept override { left = true; }
  std::size_t peers() const noexcept override { return 0; }
  std::optional<os::NotGranted> problem() const override {
    return fail_after && sent.size() > *fail_after
               ? std::optional{os::NotGranted{.what = "broken", .why = "w", .fix = "f"}}
               : std::nullopt;
  }

  std::optional<os::NotGranted> detour() const override {
    return miscarried ? std::optional{os::NotGranted{.what = "detour", .why = "w", .fix = "f"}}
                      : std::nullopt;
  }

  std::chrono::nanoseconds lead() const noexcept override { return ahead; }

  bool miscarried = false;
  std::chrono::nanoseconds ahead{0};
  std::vector<Message> sent;
  std::vector<Message> replies;
  std::deque<Message> inbox;
  std::optional<std::size_t> fail_after;
  bool left = false;

 private:
  Answer answer_;
  Message taken_;
};

class RolesTest : public testing::Test {
 protected:
  RolesTest() {
    options_.period = 10us;
    options_.count = 10;
    options_.lost_after = 1h;  // nothing is late where the machine stands still for a while
  }

  /// What `role` recorded, in the order of the file.
  template <class Run>
  Outcome recorded(const Run& run) {
    auto [outcome, samples] = run_recorded(options_, stop_, run);
    samples_ = std::move(samples);
    return outcome;
  }

  /// That sample is not waited for, those before and after it are.
  void loses(std::uint64_t sequence, const Message& message) {
    options_.lost_after = message.sequence == sequence ? std::chrono::nanoseconds{2ms} : 1h;
  }

  Options options_;
  os::StopFlag stop_;
  std::vector<Sample> samples_;
};

void echo(const Message& message, std::deque<Message>& inbox) {
  inbox.push_back(message);
}

TEST_F(RolesTest, wakeup_records_each_start_time_and_the_waking_after_it) {
  const Outcome outcome = recorded([](const Bench& bench) { return wakeup(bench); });
  EXPECT_TRUE(outcome.finished);
  ASSERT_EQ(samples_.size(), 10U);
  for (std::size_t k = 0; k < samples_.size(); ++k) {
    EXPECT_EQ(samples_[k].sequence, k);
    EXPECT_EQ(samples_[k].intended, samples_[0].intended + static_cast<std::int64_t>(k) * 10'000);
    EXPECT_EQ(samples_[k].sent, samples_[k].intended);
    EXPECT_GE(samples_[k].received, samples_[k].intended);
  }
}

TEST_F(RolesTest, ping_records_every_round_trip_and_closes_the_exchange) {
  ScriptedLink link{echo};
  const Outcome outcome = recorded([&](const Bench& bench) { return ping(bench, link); });
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.sent, 10U);
  EXPECT_EQ(outcome.received, 10U);
  EXPECT_EQ(outcome.lost, 0U);
  ASSERT_EQ(samples_.size(), 10U);
  for (const Sample& sample : samples_) {
    EXPECT_LE(sample.intended, sample.sent);
    EXPECT_LE(sample.sent, sample.received);
  }
  ASSERT_EQ(link.sent.size(), 11U);
  EXPECT_TRUE(link.sent.back().last);
  EXPECT_EQ(link.sent.back().sequence, 10U);
}

TEST_F(RolesTest, ping_hands_a_message_over_ahead_of_the_time_at_which_it_leaves) {
  options_.period = 2ms;
  std::vector<os::TimePoint> handed_over;
  ScriptedLink link{[&](const Message& message, std::deque<Message>& inbox) {
    handed_over.push_back(os::now());
    echo(message, inbox);
  }};
  link.ahead = 1h;
  EXPECT_TRUE(recorded([&](const Bench& bench) { return ping(bench, link); }).finished);
  ASSERT_EQ(samples_.size(), 10U);
  for (std::size_t k = 0; k < samples_.size(); ++k) {
    EXPECT_EQ(samples_[k].intended,
              samples_[0].intended + static_cast<std::int64_t>(k) * 2'000'000);
    EXPECT_EQ(samples_[k].sent, samples_[k].intended);
    const auto ahead = link.sent[k].intended - handed_over[k];
    EXPECT_LE(ahead, 1h);
    EXPECT_GT(ahead, 30min);
  }
}

TEST_F(RolesTest, ping_after_a_late_reply_waits_for_the_next_cycle_where_this_is_asked) {
  options_.period = 1ms;
  options_.count = 100'000;  // it is stopped long before
  options_.late = Late::next_cycle;
  std::optional<std::uint64_t> slow;
  ScriptedLink link{[this, &slow](const Message& message, std::deque<Message>& inbox) {
    if (!slow && message.sequence >= 3) {
      slow = message.sequence;
      os::sleep_until(message.intended + 5500us);  // until after the next five start times
    } else if (slow && message.sequence > *slow + 15) {
      stop_.request();
    }
    inbox.push_back(message);
  }};
  const Outcome outcome = recorded([&](const Bench& bench) { return ping(bench, link); });
  EXPECT_EQ(outcome.sent, samples_.size());
  ASSERT_TRUE(slow);
  EXPECT_GT(samples_.back().sequence, *slow);
  EXPECT_EQ(outcome.lost, 0U);
  for (const Sample& sample : samples_) {
    EXPECT_TRUE(sample.sequence <= *slow || sample.sequence >= *slow + 6) << sample.sequence;
    EXPECT_EQ(sample.intended - samples_[0].intended,
              static_cast<std::int64_t>(sample.sequence - samples_[0].sequence) * 1'000'000);
  }
}

TEST_F(RolesTest, messages_that_came_another_way_are_a_problem_of_who_records_them) {
  ScriptedLink link{echo};
  link.miscarried = true;
  const Outcome pinged = recorded([&](const Bench& bench) { return ping(bench, link); });
  ASSERT_TRUE(pinged.problem);
  EXPECT_EQ(pinged.problem->what, "detour");
  options_.lost_after = 2ms;
  ScriptedLink silent{[](const Message&, std::deque<Message>&) {}};
  silent.miscarried = true;  // nothing came at all: that is told otherwise
  EXPECT_FALSE(recorded([&](const Bench& bench) { return ping(bench, silent); }).problem);
}

TEST_F(RolesTest, ping_records_an_unanswered_sample_as_lost) {
  ScriptedLink link{[this](const Message& message, auto& inbox) {
    loses(3, message);
    if (message.sequence != 3) {
      inbox.push_back(message);
    }
  }};
  const Outcome outcome = recorded([&](const Bench& bench) { return ping(bench, link); });
  EXPECT_EQ(outcome.sent, 10U);
  EXPECT_EQ(outcome.received, 9U);
  EXPECT_EQ(outcome.lost, 1U);
  ASSERT_EQ(samples_.size(), 10U);
  EXPECT_EQ(samples_[3].sequence, 3U);
  EXPECT_EQ(samples_[3].received, 0);
}

TEST_F(RolesTest, ping_takes_a_late_reply_neither_for_a_sample_nor_for_a_duplicate) {
  ScriptedLink link{[this](const Message& message, auto& inbox) {
    loses(3, message);
    if (message.sequence == 4) {  // brings the reply that 3 did not get
      Message late = message;
      late.sequence = 3;
      inbox.push_back(late);
    }
    if (message.sequence != 3) {
      inbox.push_back(message);
    }
  }};
  const Outcome outcome = recorded([&](const Bench& bench) { return ping(bench, link); });
  EXPECT_EQ(outcome.lost, 1U);
  EXPECT_EQ(outcome.late, 1U);
  EXPECT_EQ(outcome.duplicated, 0U);
  EXPECT_EQ(outcome.received, 9U);
  EXPECT_EQ(samples_[3].received, 0);
  EXPECT_NE(samples_[4].received, 0);
}

TEST_F(RolesTest, ping_counts_a_second_reply_as_a_duplicate) {
  ScriptedLink link{[](const Message& message, auto& inbox) {
    inbox.push_back(message);
    if (message.sequence == 3) {
      inbox.push_back(message);
    }
  }};
  const Outcome outcome = recorded([&](const Bench& bench) { return ping(bench, link); });
  EXPECT_EQ(outcome.duplicated, 1U);
  EXPECT_EQ(outcome.received, 10U);
  EXPECT_EQ(outcome.lost, 0U);
}

TEST_F(RolesTest, ping_that_is_stopped_counts_only_decided_samples) {
  ScriptedLink link{[this](const Message& message, auto& inbox) {
    if (message.sequence == 5) {
      stop_.request();
    }
    inbox.push_back(message);
  }};
  const Outcome outcome = recorded([&](const Bench& bench) { return ping(bench, link); });
  EXPECT_FALSE(outcome.finished);
  EXPECT_EQ(outcome.sent, outcome.received);
  EXPECT_EQ(outcome.lost, 0U);
  EXPECT_EQ(samples_.size(), outcome.sent);
  EXPECT_TRUE(link.sent.back().last);
}

TEST_F(RolesTest, ping_reports_why_its_link_failed) {
  ScriptedLink link{echo};
  link.fail_after = 4;
  const Outcome outcome = recorded([&](const Bench& bench) { return ping(bench, link); });
  EXPECT_FALSE(outcome.finished);
  EXPECT_EQ(outcome.sent, 4U);
  ASSERT_TRUE(outcome.problem);
  EXPECT_EQ(outcome.problem->what, "broken");
}

TEST_F(RolesTest, pong_answers_everything_and_ends_with_the_closing_message) {
  ScriptedLink link{echo};
  for (std::uint64_t k = 0; k < 5; ++k) {
    link.inbox.push_back({.sequence = k});
  }
  link.inbox.push_back({.sequence = 5, .last = true});
  link.inbox.push_back({.sequence = 6});  // of nobody's interest any more
  const Outcome outcome = pong(Bench{options_, stop_, nullptr}, link);
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.received, 5U);
  EXPECT_EQ(link.replies.size(), 6U);
}

TEST_F(RolesTest, publisher_sends_every_start_time_and_says_how_many_there_were) {
  ScriptedLink link{[](const Message&, auto&) {}};
  const Outcome outcome = publish(Bench{options_, stop_, nullptr}, link);
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.sent, 10U);
  ASSERT_GE(link.sent.size(), 11U);
  for (std::size_t k = 0; k < 10; ++k) {
    EXPECT_EQ(link.sent[k].sequence, k);
    EXPECT_EQ(link.sent[k].intended, link.sent[0].intended + static_cast<std::int64_t>(k) * 10us);
  }
  EXPECT_TRUE(link.sent.back().last);
  EXPECT_EQ(link.sent.back().sequence, 10U);
}

TEST_F(RolesTest, publisher_leaves_the_last_message_its_period_before_the_closing_one) {
  options_.period = 5ms;
  options_.count = 2;
  ScriptedLink link{[](const Message&, auto&) {}};
  EXPECT_TRUE(publish(Bench{options_, stop_, nullptr}, link).finished);
  ASSERT_GE(link.sent.size(), 3U);
  EXPECT_TRUE(link.sent[2].last);
  EXPECT_GE(link.sent[2].sent, link.sent[1].intended + options_.period);
}

TEST_F(RolesTest, subscriber_records_arrivals_once_and_in_their_order) {
  ScriptedLink link{echo};
  for (const std::uint64_t sequence : {0U, 2U, 1U, 1U, 5U}) {
    link.inbox.push_back({.sequence = sequence});
  }
  link.inbox.push_back({.sequence = 8, .last = true});
  const Outcome outcome = recorded([&](const Bench& bench) { return subscribe(bench, link); });
  EXPECT_TRUE(outcome.finished);
  EXPECT_TRUE(link.left);
  EXPECT_EQ(outcome.received, 4U);
  EXPECT_EQ(outcome.duplicated, 1U);
  EXPECT_EQ(outcome.out_of_order, 1U);
  EXPECT_EQ(outcome.lost, 4U);  // 3, 4, 6, 7
  EXPECT_EQ(outcome.sent, 8U);
  std::vector<std::uint64_t> order;
  for (const Sample& sample : samples_) {
    order.push_back(sample.sequence);
  }
  EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 2, 1, 5}));
}

TEST_F(RolesTest, conditions_are_read_back_from_the_loops_own_thread) {
  const Outcome outcome = recorded([](const Bench& bench) { return wakeup(bench); });
  EXPECT_EQ(outcome.granted.thread.tid, gettid());
  EXPECT_FALSE(outcome.granted.threads.empty());
  EXPECT_GT(outcome.usage.cpu_time.count(), 0);
}

}  // namespace
}  // namespace takt::probe
