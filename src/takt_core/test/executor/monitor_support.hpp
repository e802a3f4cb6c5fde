// SPDX-License-Identifier: Apache-2.0
//
// An application with a chain through timers and messages, on a front end made for tests.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"
#include "takt/executor/monitor.hpp"
#include "takt/trace/current.hpp"

namespace takt::test {

using executor::Delivered;
using executor::Limits;
using executor::LimitStatistics;
using executor::Outcome;
using executor::Quantity;

// A topic as a front end implements it: each message has a number and a sample time.
class Link {
 public:
  struct Message {
    std::int64_t number = -1;
    os::TimePoint sampled{};
  };

  explicit Link(std::string topic) : topic_{std::move(topic)} {}
  void number_in(const Executor& executor) { number_ = executor.trace_topic(topic_); }
  void publish(os::TimePoint sampled) {
    std::vector<executor::ReleaseHandle> listeners;
    std::int64_t number = 0;
    {
      const std::lock_guard lock{mutex_};
      number = static_cast<std::int64_t>(messages_.size());
      trace::record_in_job(trace::EventType::publish, os::now(), number_, number);
      messages_.push_back({.number = number, .sampled = sampled});
      listeners = listeners_;
    }
    for (const auto& listener : listeners) {
      listener.notify(1, number);
    }
  }
  [[nodiscard]] Message at(std::int64_t number) const {
    const std::lock_guard lock{mutex_};
    return messages_[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] Message newest() const {
    const std::lock_guard lock{mutex_};
    return messages_.empty() ? Message{} : messages_.back();
  }
  void listen(const executor::ReleaseHandle& release) {
    const std::lock_guard lock{mutex_};
    listeners_.push_back(release);
  }
  void used(const Message& message) const {
    trace::record_in_job(trace::EventType::use, os::now(), number_, message.number);
  }
  [[nodiscard]] const std::string& topic() const { return topic_; }

 private:
  const std::string topic_;
  std::uint16_t number_ = 0;
  mutable std::mutex mutex_;
  std::vector<Message> messages_;
  std::vector<executor::ReleaseHandle> listeners_;
};

// What a timer reads.
class Latest : public executor::Input {
 public:
  explicit Latest(const Link& link) : link_{link} {}
  Delivered deliver_pending() override {
    const Link::Message newest = link_.newest();
    const bool is_new = newest.number != message_.number;
    message_ = newest;
    if (newest.number < 0) {
      return {};
    }
    return {.count = is_new ? 1U : 0U, .sampled = newest.sampled};
  }
  void use() const { link_.used(message_); }

 private:
  const Link& link_;
  Link::Message message_;
};

// What a message releases.
class Receiver : public executor::JobSource {
 public:
  Receiver(Link& link, std::function<void(os::TimePoint)> work)
      : link_{link}, work_{std::move(work)} {}
  [[nodiscard]] sched::Task describe() const override { return {}; }
  Outcome run(const sched::Job& job) override {
    const Link::Message message = link_.at(job.value);
    executor::use_trigger(message.sampled);
    link_.used(message);
    work_(message.sampled);
    return {.sampled = message.sampled};
  }
  void arm(const executor::ReleaseHandle& release) override { link_.listen(release); }
  void disarm() noexcept override {}

 private:
  Link& link_;
  std::function<void(os::TimePoint)> work_;
};

// sense (timer) -> raw -> filter (message) -> clean -> control (timer) -> command -> act (message).
class Robot {
 public:
  static inline const std::vector<std::string> whole{"sense", "filter", "control", "act"};
  static inline const std::vector<std::string> half{"sense", "filter", "control"};

  explicit Robot(Options options) : executor{std::move(options)} {
    for (Link* const link : {&raw, &clean, &command}) {
      link->number_in(executor);
    }
    executor.declare_external_topic("raw");  // as long as there is no sense
    executor.add(sense(), bound_sense());
    sched::Task filter = message("filter", "raw", 30);
    filter.writes = {"clean"};
    executor.add(filter, {.queue = 64,
                          .source = std::make_shared<Receiver>(raw, [this](os::TimePoint sampled) {
                            burn(100us);
                            clean.publish(sampled);
                          })});
    sched::Task control = timer("control", 3ms, 20);
    control.reads = {{.topic = "clean"}};
    control.writes = {"command"};
    const auto input = std::make_shared<Latest>(clean);
    executor.add(control, {.callback =
                               [this, input](const sched::Job& job) {
                                 input->use();
                                 burn(control_burns.load());
                                 command.publish(job.release);
                               },
                           .inputs = {{.topic = "clean", .input = input}}});
    executor.add(message("act", "command", 10),
                 {.queue = 64, .source = std::make_shared<Receiver>(command, [](os::TimePoint) {
                                 burn(50us);
                               })});
  }
  static sched::Task sense() {
    sched::Task task = timer("sense", 2ms, 40);
    task.writes = {"raw"};
    return task;
  }
  Binding bound_sense() {
    return {.callback = [this](const sched::Job& job) {
      burn(50us);
      raw.publish(job.release);
    }};
  }
  // Shorter than some of them take, and longer than others.
  static Limits limits() {
    return {.callbacks = {{.callback = "control", .response = 400us}, {.callback = "act"}},
            .chains = {{.chain = "whole", .callbacks = whole, .latency = 3ms, .age = 3500us},
                       {.chain = "half", .callbacks = half, .latency = 2500us}}};
  }
  [[nodiscard]] LimitStatistics watched(const std::string& subject, Quantity quantity) const {
    for (const LimitStatistics& one : executor.limits()) {
      if (one.subject == subject && one.quantity == quantity) {
        return one;
      }
    }
    ADD_FAILURE() << subject << " has no such limit";
    return {};
  }
  void run_until_arrived(std::uint64_t arrivals) {
    executor.start();
    wait_for(arrivals);
    executor.stop();
  }
  void wait_for(std::uint64_t arrivals) const {
    EXPECT_TRUE(
        eventually([&] { return watched("whole", Quantity::latency).checked >= arrivals; }));
  }

  Link raw{"raw"};
  Link clean{"clean"};
  Link command{"command"};
  std::atomic<std::chrono::nanoseconds> control_burns{200us};
  Executor executor;
};

}  // namespace takt::test
