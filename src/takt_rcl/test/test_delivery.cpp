// SPDX-License-Identifier: Apache-2.0
//
// Several threads that deliver the messages of one subscription at once: who waits for whom. Its
// callback lasts until the test lets it go on, so nothing depends on how fast anybody is.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <takt/os/thread.hpp>
#include <takt/rcl/sample_time.hpp>
#include <takt_interfaces/msg/sample.hpp>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;
using executor::Delivered;

// A thread on one core that delivers once.
class Delivery {
 public:
  Delivery(int cpu, std::function<Delivered()> deliver)
      : thread_{{.cpus = {cpu}}, [this, deliver = std::move(deliver)] {
                  result_ = deliver();
                  returned_ = true;
                }} {}

  [[nodiscard]] pid_t tid() const { return thread_.tid(); }
  [[nodiscard]] bool returned() const { return returned_; }
  // Not before returned().
  [[nodiscard]] Delivered result() const { return result_; }

  // Whether it waits now, instead of returning.
  [[nodiscard]] bool waits() const {
    EXPECT_TRUE(eventually([&] { return returned_ || sleeps(); }));
    return !returned_;
  }

 private:
  [[nodiscard]] bool sleeps() const {
    std::ifstream file{"/proc/self/task/" + std::to_string(tid()) + "/stat"};
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && text.compare(name_end, 4, ") S ") == 0;
  }

  Delivered result_;
  std::atomic<bool> returned_{false};
  os::Thread thread_;  // last: it uses the above
};

class Deliveries : public testing::Test {
 protected:
  void publish(std::uint64_t first, std::uint64_t last) {
    Sample sample;
    for (sample.sequence = first; sample.sequence <= last; ++sample.sequence) {
      const detail::SampleTimeScope scope{sampled(sample.sequence)};
      ASSERT_TRUE(out_->publish(sample));
    }
  }
  static os::TimePoint sampled(std::uint64_t sequence) {
    return os::TimePoint{std::chrono::seconds{1 + sequence}};
  }

  auto deliver(int cpu, Delivered (SubscriptionBase::*how)()) {
    return std::make_unique<Delivery>(cpu, [this, how] { return (in_.get()->*how)(); });
  }
  auto reader(int cpu) {
    return std::make_unique<Delivery>(cpu, [this] { return in_->deliver_pending(); });
  }
  bool is_called(std::size_t times) {
    return eventually([&] { return called_ == times; });
  }

  std::vector<int> cpus_{os::current_thread().cpus};
  Context context_;
  Node node_{context_, "deliveries"};
  std::string topic_{unique_topic("deliveries")};
  std::counting_semaphore<> go_on_{0};
  std::atomic<std::size_t> called_{0};
  std::vector<pid_t> callers_;
  std::shared_ptr<Publisher<Sample>> out_{node_.create_publisher<Sample>(topic_, QoS{10})};
  std::shared_ptr<Subscription<Sample>> in_{
      node_.create_subscription<Sample>(topic_, QoS{10}, [this](const Sample&) {
        callers_.push_back(os::current_thread().tid);
        ++called_;
        go_on_.acquire();
      })};
};

TEST_F(Deliveries, report_when_the_message_was_sampled_that_they_delivered) {
  publish(0, 4);
  go_on_.release(5);
  EXPECT_FALSE(in_->deliver_newest().count == 0);
  EXPECT_EQ(in_->deliver_pending().sampled, sampled(4));
  publish(5, 7);
  EXPECT_EQ(in_->deliver_oldest().sampled, sampled(5));
  EXPECT_EQ(in_->deliver_newest().sampled, sampled(7));
  const Delivered nothing = in_->deliver_oldest();
  EXPECT_EQ(nothing.count, 0U);
  EXPECT_EQ(nothing.sampled, sampled(7));
}

TEST_F(Deliveries, of_a_reader_do_not_wait_for_a_callback_on_another_core) {
  if (cpus_.size() < 2) GTEST_SKIP() << "needs two cores";
  publish(0, 0);
  go_on_.release();
  ASSERT_EQ(in_->deliver_pending().count, 1U);
  publish(1, 2);
  const auto first = reader(cpus_[0]);
  ASSERT_TRUE(is_called(2));
  const auto second = reader(cpus_[1]);
  EXPECT_TRUE(eventually([&] { return second->returned(); }));
  EXPECT_FALSE(first->returned());
  go_on_.release(2);
  ASSERT_TRUE(eventually([&] { return first->returned() && second->returned(); }));
  EXPECT_EQ(first->result().count, 2U);
  EXPECT_EQ(first->result().sampled, sampled(2));
  // It has what was delivered before: the message in the callback is not its own.
  EXPECT_EQ(second->result().count, 0U);
  EXPECT_EQ(second->result().sampled, sampled(0));
}

TEST_F(Deliveries, of_a_reader_let_the_callback_end_that_they_have_preempted) {
  publish(0, 1);
  const auto first = reader(cpus_[0]);
  ASSERT_TRUE(is_called(1));
  const auto second = reader(cpus_[0]);
  EXPECT_TRUE(second->waits());
  go_on_.release(2);
  ASSERT_TRUE(eventually([&] { return first->returned() && second->returned(); }));
  EXPECT_EQ(second->result().sampled, sampled(1));
  EXPECT_EQ(first->result().count + second->result().count, 2U);
}

TEST_F(Deliveries, of_a_message_task_wait_for_one_callback_and_not_for_all_that_are_pending) {
  publish(0, 2);
  const auto pending = reader(cpus_.front());
  ASSERT_TRUE(is_called(1));
  const auto task = deliver(cpus_.back(), &SubscriptionBase::deliver_oldest);
  EXPECT_TRUE(task->waits());
  go_on_.release();
  ASSERT_TRUE(is_called(2));
  EXPECT_EQ(callers_[1], task->tid());
  go_on_.release(2);
  ASSERT_TRUE(eventually([&] { return task->returned() && pending->returned(); }));
  EXPECT_EQ(task->result().sampled, sampled(1));
}

TEST_F(Deliveries, inside_of_the_callback_do_nothing) {
  std::shared_ptr<Subscription<Sample>> in;
  std::uint32_t inside = 0;
  const std::string topic = topic_ + "_inside";
  in = node_.create_subscription<Sample>(topic, QoS{10}, [&](const Sample&) {
    inside += in->deliver_pending().count + in->deliver_oldest().count;
  });
  const auto out = node_.create_publisher<Sample>(topic, QoS{10});
  ASSERT_TRUE(out->publish(Sample{}));
  ASSERT_TRUE(out->publish(Sample{}));
  EXPECT_EQ(in->deliver_pending().count, 2U);
  EXPECT_EQ(inside, 0U);
}

TEST_F(Deliveries, from_many_threads_give_each_message_to_one_of_them_alone) {
  constexpr std::uint64_t messages = 20000;
  const std::string topic = topic_ + "_many";
  std::uint64_t sum = 0;  // unguarded: the callback never runs twice at once
  std::atomic<std::uint64_t> count{0};
  const auto in = node_.create_subscription<Sample>(topic, QoS{100}, [&](const Sample& message) {
    sum += message.sequence;
    ++count;
  });
  const auto out = node_.create_publisher<Sample>(topic, QoS{100});
  std::atomic<bool> stop{false};
  std::vector<std::unique_ptr<os::Thread>> threads;
  const auto spread = [&](std::size_t i, auto function) {
    threads.push_back(std::make_unique<os::Thread>(
        os::ThreadSettings{.cpus = {cpus_[i % cpus_.size()]}}, function));
  };
  for (std::size_t i = 0; i < 2; ++i) {
    spread(i, [&] {
      while (!stop) in->deliver_pending();
    });
    spread(i, [&] {
      while (!stop) in->deliver_oldest();
    });
  }
  Sample sample;
  for (sample.sequence = 0; sample.sequence < messages; ++sample.sequence) {
    ASSERT_TRUE(out->publish(sample));
    if (sample.sequence % 50 == 49) {
      ASSERT_TRUE(eventually([&] { return count == sample.sequence + 1; }));
    }
  }
  stop = true;
  threads.clear();
  EXPECT_EQ(sum, messages * (messages - 1) / 2);
  EXPECT_EQ(in->dropped(), 0U);
}

}  // namespace
}  // namespace takt::test
