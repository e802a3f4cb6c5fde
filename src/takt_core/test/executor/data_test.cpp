// SPDX-License-Identifier: Apache-2.0
//
// Data: fresh before the callback runs, and young enough where an age is declared.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "../policies.hpp"
#include "support.hpp"

namespace takt::test {
namespace {

using executor::Delivered;
using executor::Input;

// A topic with one value: what is sent is pending until it is delivered.
class Mailbox : public Input {
 public:
  Mailbox() {
    for (auto& time : sent_at_) {
      time = os::TimePoint::max();
    }
  }
  // Values count from 1.
  void send(std::int64_t value) {
    sampled_.store(os::now());
    pending_.store(value);
    sent_at_[static_cast<std::size_t>(value) % remembered].store(os::now());
  }
  Delivered deliver_pending() noexcept override {
    const std::int64_t value = pending_.load();
    deliverer_ = gettid();
    if (value == delivered_.load()) {
      return {};
    }
    delivered_.store(value);
    return {.count = 1, .sampled = sampled_.load()};
  }
  // Whether what was sent until then, or something newer, has been delivered on this thread.
  bool is_up_to(os::TimePoint time) const {
    const auto next = static_cast<std::size_t>(delivered_ + 1);
    return deliverer_ == gettid() && sent_at_[next % remembered].load() > time;
  }

 private:
  static constexpr std::size_t remembered = 65'536;
  std::atomic<std::int64_t> pending_{0};
  std::atomic<std::int64_t> delivered_{0};
  std::atomic<os::TimePoint> sampled_{};
  std::atomic<pid_t> deliverer_{0};
  std::vector<std::atomic<os::TimePoint>> sent_at_{remembered};
};

class Data : public TracedUnderPolicy {};

INSTANTIATE_TEST_SUITE_P(Policies, Data, ::testing::Values("fp", "edf", "np-edf"), policy_name);

TEST_P(Data, ATimerNeverRunsOnOldDataWhenNewerWasPending) {
  const auto box = std::make_shared<Mailbox>();
  std::atomic<int> stale{0};
  Executor executor{options()};
  sched::Task reader = timer("reader", 1ms, 30);
  reader.reads = {{.topic = "outside"}};
  const auto added = executor.add(
      reader,
      {.callback = [&](const sched::Job& job) { stale += box->is_up_to(job.release) ? 0 : 1; },
       .inputs = {{.topic = "outside", .input = box}}});
  std::atomic<bool> done{false};
  std::thread sender{[&] {
    for (std::int64_t value = 1; !done; ++value) {
      box->send(value);
      os::sleep_until(os::now() + 300us);
    }
  }};
  executor.start();
  const auto statistics = [&] { return executor.statistics(added.index); };
  EXPECT_TRUE(
      eventually([&] { return statistics().completed >= 100 && statistics().delivered >= 50; }));
  executor.stop();
  done = true;
  sender.join();
  EXPECT_EQ(stale, 0);
  // In the trace: deliveries stand between the start and the end of the job that they are for.
  const trace::Trace trace = trace::read_trace(file_.path());
  const TracedJobs jobs = jobs_of(trace);
  std::uint64_t deliveries = 0;
  for (const trace::Event& event : trace.events) {
    if (event.type == trace::EventType::deliver) {
      const TracedJob& job = jobs.at({event.task, event.job});
      EXPECT_LE(*job.start, event.time);
      EXPECT_LE(event.time, job.end.value_or(event.time));
      EXPECT_EQ(trace.topics.at(event.topic), "outside");
      ++deliveries;
    }
  }
  EXPECT_EQ(deliveries, statistics().delivered);
}

TEST_P(Data, TooOldIsCountedAndReported) {
  const auto box = std::make_shared<Mailbox>();
  std::atomic<std::uint64_t> violations{0};
  std::atomic<int> without_data{0};
  std::atomic<bool> too_old{false};  // in this job
  Options with_handler = options();
  with_handler.handlers.age_violation = [&](const executor::AgeViolation& violation) {
    ++violations;
    EXPECT_EQ(violation.topic, "outside");
    EXPECT_EQ(violation.max_age, 50ms);
    EXPECT_GT(violation.age, violation.max_age);
    without_data += violation.age == std::chrono::nanoseconds::max() ? 1 : 0;
    too_old = true;
  };
  // Sends until a job has come in time for it, then never again.
  std::atomic<std::uint64_t> late_after_that{0};
  Executor executor{with_handler};
  sched::Task reader = timer("reader", 10ms, 30);
  reader.reads = {{.topic = "outside", .max_age = 50ms}};
  executor.add(reader, {.callback =
                            [&, young = false](const sched::Job& job) mutable {
                              const bool late = too_old.exchange(false);
                              late_after_that += young && late ? 1 : 0;
                              young = young || !late;
                              if (job.index >= 5 && !young) {
                                box->send(static_cast<std::int64_t>(job.index));
                              }
                            },
                        .inputs = {{.topic = "outside", .input = box}}});
  executor.start();
  EXPECT_TRUE(eventually([&] { return late_after_that >= 10; }));
  executor.stop();
  const auto statistics = executor.statistics(0);
  EXPECT_EQ(statistics.age_violations, violations);
  EXPECT_GE(without_data, 1);
  EXPECT_LT(violations, statistics.completed);
}

// The producer comes by itself every 200 ms only, but the reader wants data of at most 30 ms.
TEST_P(Data, IsKeptYoungByReleasingItsSourceEarly) {
  if (const auto reason = no_real_time()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  Executor executor{options()};
  sched::Task producer = timer("producer", 200ms, 10);
  producer.parameters.expected_execution = 1ms;
  producer.writes = {"data"};
  sched::Task reader = timer("reader", 20ms, 40, 15ms);
  reader.parameters.expected_execution = 1ms;
  reader.reads = {{.topic = "data", .max_age = 30ms}};
  executor.add(reader, {[](const auto&) { burn(100us); }});
  executor.add(producer, {[](const auto&) { burn(200us); }});
  executor.add(timer("load", 10ms, 20), {[](const auto&) { burn(3ms); }});
  run_until_each_completed(executor, 20);
  const auto of_reader = executor.statistics(0);
  const auto of_producer = executor.statistics(1);
  // At most once for each release of the reader, and not when the regular ones come in time.
  EXPECT_GE(of_producer.early_releases, 10U);
  EXPECT_LE(of_producer.early_releases, of_reader.releases + 1);
  const trace::Trace trace = trace::read_trace(file_.path());
  const TracedJobs jobs = jobs_of(trace);
  std::set<std::uint64_t> too_old;
  std::uint64_t early = 0;
  for (const trace::Event& event : trace.events) {
    early += event.type == trace::EventType::early_release ? 1 : 0;
    if (event.type == trace::EventType::age_violation) {
      too_old.insert(event.job);
    }
  }
  EXPECT_EQ(early, of_producer.early_releases);
  EXPECT_EQ(too_old.size(), of_reader.age_violations);
  for (const auto& [key, of] : jobs) {
    if (trace.tasks.at(key.first) != "reader" || !of.start) {
      continue;
    }
    std::int64_t sampled = 0;  // the newest that had ended by then
    for (const auto& [other, source] : jobs) {
      if (trace.tasks.at(other.first) == "producer" && source.end && *source.end <= *of.start) {
        sampled = std::max(sampled, source.job.release.time_since_epoch().count());
      }
    }
    // Whoever starts as late as its deadline allows has young data, but for the first job: there
    // was no time before it.
    const os::TimePoint start{std::chrono::nanoseconds{*of.start}};
    const bool young = start.time_since_epoch() - std::chrono::nanoseconds{sampled} <= 30ms;
    EXPECT_TRUE(young || key.second == 0 || start > of.job.release + 14ms) << "job " << key.second;
    if (!young) {
      EXPECT_TRUE(too_old.contains(key.second)) << "job " << key.second;
    }
  }
}

// The source has started, at the lowest priority, and another job computes that waits for its end:
// only the boost for the reader, which is released later, can give it the core.
TEST(Boost, BringsAJobThatHasStartedBeforeTheOneThatPreemptedIt) {
  if (const auto reason = no_real_time()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  const TemporaryFile file;
  Executor executor{{.cpus = {0}, .trace = file.path(), .on_not_granted = [](const auto&) {}}};
  std::atomic<bool> preempted{false};
  std::atomic<bool> ended{false};
  const auto burn_until = [](const std::atomic<bool>& happened) {
    const auto give_up = os::now() + 5s;
    while (!happened && os::now() < give_up) {
    }
    return happened.load();
  };
  bool source_was_preempted = false;
  bool ended_before = false;
  sched::Task source = timer("source", 100s, 1);
  source.parameters.expected_execution = 1ms;
  source.writes = {"data"};
  sched::Task between = timer("between", 100s, 50, 0ns, 10ms);
  between.parameters.expected_execution = 1ms;
  sched::Task reader = timer("reader", 100s, 90, 0ns, 100ms);
  reader.parameters.expected_execution = 1ms;
  reader.reads = {{.topic = "data", .max_age = 10s}};
  executor.add(source, {[&](const auto&) {
                 source_was_preempted = burn_until(preempted);
                 ended = true;
               }});
  executor.add(between, {[&](const auto&) {
                 preempted = true;
                 ended_before = burn_until(ended);
               }});
  executor.add(reader, {[](const auto&) {}});
  run_until_each_completed(executor, 1);
  EXPECT_TRUE(source_was_preempted);
  EXPECT_TRUE(ended_before);
  EXPECT_EQ(executor.statistics(2).age_violations, 0U);
  const trace::Trace trace = trace::read_trace(file.path());
  EXPECT_EQ(std::ranges::count(trace.events, trace::EventType::boost, &trace::Event::type), 1);
  EXPECT_EQ(trace::timeline(trace.events).not_nested(), 0U);
}

}  // namespace
}  // namespace takt::test
