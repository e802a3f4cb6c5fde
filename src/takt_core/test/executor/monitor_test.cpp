// SPDX-License-Identifier: Apache-2.0
//
// Limits that are watched while the executor runs. What the monitor says of chains and responses is
// what the trace of the same run says (trace::Flows), which knows nothing of the monitor.
#include "takt/executor/monitor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "../policies.hpp"
#include "support.hpp"
#include "takt/sched/error.hpp"
#include "takt/trace/current.hpp"
#include "takt/trace/flows.hpp"

namespace takt::test {
namespace {

using executor::ChainLimits;
using executor::Delivered;
using executor::LimitExceeded;
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
  [[nodiscard]] LimitStatistics seen(const std::string& subject, Quantity quantity) const {
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
    EXPECT_TRUE(eventually([&] { return seen("whole", Quantity::latency).checked >= arrivals; }));
  }

  Link raw{"raw"};
  Link clean{"clean"};
  Link command{"command"};
  std::atomic<std::chrono::nanoseconds> control_burns{200us};
  Executor executor;
};

struct Values {
  std::vector<std::int64_t> latency;
  std::vector<std::int64_t> age;
};

// By the trace.
std::vector<Values> chains_in(const trace::Trace& trace, const trace::Flows::Chains& chains) {
  trace::Flows flows{trace, chains};
  std::ranges::for_each(trace.events, [&](const trace::Event& event) { flows.take(event); });
  std::vector<Values> values(chains.size());
  for (const trace::Arrival& arrival : flows.arrivals) {
    values[arrival.chain].age.push_back(arrival.age);
    if (arrival.first) {
      values[arrival.chain].latency.push_back(arrival.age);
    }
  }
  return values;
}

void expect_same(const LimitStatistics& seen, const std::vector<std::int64_t>& traced) {
  SCOPED_TRACE(seen.subject);
  EXPECT_EQ(seen.checked, traced.size());
  EXPECT_EQ(seen.exceeded, static_cast<std::uint64_t>(std::ranges::count_if(
                               traced, [&](auto value) { return value > seen.limit.count(); })));
  EXPECT_EQ(seen.worst.count(), traced.empty() ? 0 : std::ranges::max(traced));
}

void expect_what_the_trace_says(const Robot& robot, const trace::Trace& trace) {
  ASSERT_EQ(trace.lost, 0U);
  const auto traced = chains_in(trace, {Robot::whole, Robot::half});
  expect_same(robot.seen("whole", Quantity::latency), traced[0].latency);
  expect_same(robot.seen("whole", Quantity::age), traced[0].age);
  expect_same(robot.seen("half", Quantity::latency), traced[1].latency);
  std::vector<std::int64_t> responses;
  for (const auto& [key, job] : jobs_of(trace)) {
    if (trace.tasks.at(key.first) == "control" && job.end) {
      responses.push_back(*job.end - job.job.release.time_since_epoch().count());
    }
  }
  expect_same(robot.seen("control", Quantity::response), responses);
}

class Monitor : public TracedUnderPolicy {
 protected:
  [[nodiscard]] trace::Trace traced() const { return trace::read_trace(file_.path()); }
};

INSTANTIATE_TEST_SUITE_P(Policies, Monitor, ::testing::Values("fp", "edf", "np-edf"), policy_name);

TEST_P(Monitor, SaysOfChainsAndResponsesWhatTheTraceSays) {
  Robot robot{options()};
  robot.executor.set_limits(Robot::limits());
  robot.run_until_arrived(100);
  expect_what_the_trace_says(robot, traced());
}

TEST_P(Monitor, SaysWhatTheTraceSaysUnderOverload) {
  Robot robot{options()};
  robot.executor.set_limits(Robot::limits());
  robot.control_burns = 5ms;
  robot.run_until_arrived(20);
  expect_what_the_trace_says(robot, traced());
  const LimitStatistics control = robot.seen("control", Quantity::response);
  EXPECT_EQ(control.exceeded, control.checked);
  EXPECT_FALSE(control.holds());
}

TEST_P(Monitor, SaysWhatTheTraceSaysOfSeveralCores) {
  const auto cpus = os::current_thread().cpus;
  if (cpus.size() < 2) {
    GTEST_SKIP() << "one core";
  }
  Options spread = options();
  spread.cpus = {cpus[0], cpus[1]};
  Robot robot{std::move(spread)};
  robot.executor.set_limits(Robot::limits());
  robot.run_until_arrived(100);
  expect_what_the_trace_says(robot, traced());
}

TEST_P(Monitor, SaysWhatTheTraceSaysAcrossScenarios) {
  Robot robot{options()};
  robot.executor.set_limits(Robot::limits());
  robot.executor.set_scheduling_strategy(
      sched::SchedulingStrategy{}
          .add_scenario(sched::SchedulingScenario{"drive"})
          .add_scenario(sched::SchedulingScenario{"dock"}
                            .add_task({.task = "sense", .period = 5ms})
                            .add_task({.task = "control", .period = 1ms})));
  robot.executor.start();
  for (std::uint64_t arrivals = 20; arrivals <= 100; arrivals += 20) {
    robot.wait_for(arrivals);
    EXPECT_TRUE(robot.executor.switch_to(arrivals % 40 == 20 ? "dock" : "drive"));
  }
  robot.executor.stop();
  expect_what_the_trace_says(robot, traced());
}

TEST_P(Monitor, SaysWhatTheTraceSaysWhenTheFirstCallbackComesAgain) {
  Robot robot{options()};
  robot.executor.set_limits(Robot::limits());
  robot.executor.start();
  for (std::uint64_t arrivals = 20; arrivals <= 60; arrivals += 20) {
    robot.wait_for(arrivals);
    robot.executor.remove("sense").wait();
    robot.executor.add(Robot::sense(), robot.bound_sense());
  }
  robot.executor.stop();
  expect_what_the_trace_says(robot, traced());
}

// Nothing but what the handler is told.
class Told {
 public:
  [[nodiscard]] executor::Handlers handlers() {
    return {.limit_exceeded = [this](const LimitExceeded& told) noexcept {
      const std::lock_guard lock{mutex_};
      all_.push_back(told);
    }};
  }
  [[nodiscard]] std::vector<LimitExceeded> of(const std::string& subject, Quantity quantity) const {
    const std::lock_guard lock{mutex_};
    std::vector<LimitExceeded> found;
    std::ranges::copy_if(all_, std::back_inserter(found), [&](const LimitExceeded& one) {
      return one.subject == subject && one.quantity == quantity;
    });
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<LimitExceeded> all_;
};

TEST_P(Monitor, TellsEachExcessOnceWithItsStampsAndNothingElse) {
  Told told;
  Robot robot{options()};
  robot.executor.set_limits(Robot::limits());
  robot.executor.set_handlers(told.handlers());
  robot.run_until_arrived(50);
  for (const LimitStatistics& seen : robot.executor.limits()) {
    SCOPED_TRACE(seen.subject);
    const auto excesses = told.of(seen.subject, seen.quantity);
    EXPECT_EQ(excesses.size(), seen.exceeded);
    for (const LimitExceeded& one : excesses) {
      EXPECT_GT(one.value, one.limit);
      EXPECT_EQ(one.value, one.ended - one.from);
      EXPECT_FALSE(one.allowed);
    }
  }
}

TEST_P(Monitor, IsSilentWhereEveryLimitHolds) {
  Told told;
  Robot robot{options()};
  robot.executor.set_limits(
      {.callbacks = {{.callback = "control", .response = 1h}},
       .chains = {{.chain = "whole", .callbacks = Robot::whole, .latency = 1h, .age = 1h}}});
  robot.executor.set_handlers(told.handlers());
  robot.run_until_arrived(20);
  for (const LimitStatistics& seen : robot.executor.limits()) {
    EXPECT_GT(seen.checked, 0U) << seen.subject;
    EXPECT_EQ(seen.exceeded, 0U) << seen.subject;
    EXPECT_TRUE(seen.holds());
  }
  EXPECT_TRUE(told.of("whole", Quantity::latency).empty());
  EXPECT_TRUE(told.of("control", Quantity::response).empty());
}

TEST_P(Monitor, AShareAllowsForSomeOfThem) {
  Told told;
  Executor executor{options()};
  executor.set_limits({.callbacks = {{.callback = "task", .response = 5ms, .late = 0.3}}});
  executor.set_handlers(told.handlers());
  std::atomic<std::uint64_t> jobs{0};
  // Every fourth job, the first one not among them.
  executor.add(timer("task", 20ms, 20), {[&](const sched::Job&) {
                 if (++jobs % 4 == 0) {
                   burn(6ms);
                 }
               }});
  run_until_each_completed(executor, 8);
  const LimitStatistics seen = executor.limits().front();
  EXPECT_GE(seen.exceeded, 2U);
  for (const LimitExceeded& one : told.of("task", Quantity::response)) {
    EXPECT_EQ(one.allowed,
              static_cast<double>(one.exceeded) <= 0.3 * static_cast<double>(one.checked));
  }
}

TEST_P(Monitor, CountsSkippedReleasesAndDroppedMessagesAsTheCountersDo) {
  Told told;
  Executor executor{options()};
  executor.set_limits({.callbacks = {{.callback = "late", .skipped = 0.0},
                                     {.callback = "flooded", .dropped = 0.5}}});
  executor.set_handlers(told.handlers());
  std::atomic<bool> slow{true};
  executor.add(timer("late", 1ms, 30), {[&](const sched::Job&) { burn(slow ? 3ms : 10us); }});
  const auto flooded =
      executor.add(message("flooded", "outside", 40), {.callback = [](const auto&) {}, .queue = 2});
  executor.start();
  flooded.release.notify(10);
  EXPECT_TRUE(eventually([&] {
    return executor.statistics(0).skipped > 5 && executor.statistics(flooded.index).completed >= 2;
  }));
  slow = false;  // the last ones are judged after the next job
  const std::uint64_t completed = executor.statistics(0).completed;
  EXPECT_TRUE(eventually([&] { return executor.statistics(0).completed > completed + 5; }));
  flooded.release.notify();
  EXPECT_TRUE(eventually([&] { return executor.statistics(flooded.index).completed >= 3; }));
  executor.stop();
  const auto seen = executor.limits();
  const auto find = [&](Quantity quantity) {
    return *std::ranges::find_if(seen, [&](const auto& one) { return one.quantity == quantity; });
  };
  EXPECT_EQ(find(Quantity::dropped).exceeded, executor.statistics(flooded.index).lost_arrivals);
  EXPECT_LE(find(Quantity::skipped).exceeded, executor.statistics(0).skipped);
  EXPECT_GT(find(Quantity::skipped).exceeded, 5U);
  EXPECT_FALSE(find(Quantity::skipped).holds());
  EXPECT_FALSE(told.of("late", Quantity::skipped).empty());
  EXPECT_FALSE(told.of("flooded", Quantity::dropped).empty());
}

TEST_P(Monitor, JudgesTheAgeOfDataAtTheStartOfTheJob) {
  Told told;
  Robot robot{options()};
  Limits limits = Robot::limits();
  limits.reads = {{.callback = "control", .topic = "clean", .age = 1ns}};
  robot.executor.set_limits(limits);
  robot.executor.set_handlers(told.handlers());
  robot.run_until_arrived(20);
  const LimitStatistics seen = robot.seen("control", Quantity::age);
  EXPECT_GT(seen.checked, 0U);
  EXPECT_EQ(seen.exceeded, seen.checked);
  for (const LimitExceeded& one : told.of("control", Quantity::age)) {
    EXPECT_EQ(one.topic, "clean");
    EXPECT_LT(one.value, one.ended - one.from);  // the job itself is no age
  }
}

TEST(MonitorSetup, RefusesLimitsThatMeanNothing) {
  const auto refused = [](const Limits& limits) {
    Executor executor{{}};
    EXPECT_THROW(executor.set_limits(limits), sched::ScheduleError);
  };
  const ChainLimits chain{.chain = "c", .callbacks = {"a"}, .latency = 1ms};
  refused({.callbacks = {{.callback = "a"}, {.callback = "a"}}});
  refused({.callbacks = {{.callback = "a", .late = 1.5}}});
  refused({.callbacks = {{.callback = "a", .response = -1ns}}});
  refused({.callbacks = {{.callback = "a", .skipped = -0.1}}});
  refused({.reads = {{.callback = "a", .topic = "t"}}});
  refused({.chains = {chain, chain}});
  refused({.chains = {{.chain = "c", .latency = 1ms}}});
  refused({.chains = {{.chain = "c", .callbacks = {"a"}}}});
  refused({.chains = {{.chain = "c",
                       .callbacks = std::vector<std::string>(executor::most_places + 1, "a"),
                       .latency = 1ms}}});
}

TEST(MonitorSetup, ALimitOfNoTaskIsRefusedAtTheStartUnlessItMayComeLater) {
  Limits limits{.callbacks = {{.callback = "later"}}};
  Executor executor{{.on_shortfalls = [](const auto&) {}}};
  executor.set_limits(limits);
  EXPECT_THROW(executor.start(), sched::ScheduleError);
  limits.allow_absent_tasks = true;
  executor.set_limits(limits);
  executor.start();
  EXPECT_THROW(executor.set_limits(limits), std::logic_error);
  executor.add(timer("later", 1ms, 20), {[](const sched::Job&) {}});
  EXPECT_TRUE(eventually([&] { return executor.limits().front().checked >= 3; }));
  executor.stop();
}

TEST(MonitorSetup, ATopicThatIsNotReadIsRefused) {
  Executor executor{{.on_shortfalls = [](const auto&) {}}};
  executor.add(timer("task", 1ms, 20), {[](const sched::Job&) {}});
  executor.set_limits({.reads = {{.callback = "task", .topic = "nowhere", .age = 1ms}}});
  EXPECT_THROW(executor.start(), sched::ScheduleError);
}

}  // namespace
}  // namespace takt::test
