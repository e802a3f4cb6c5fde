// SPDX-License-Identifier: Apache-2.0
//
// Data: fresh before the callback runs, and young enough where an age is declared.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using executor::Delivered;
using executor::Input;

// A topic with one value: what is sent is pending until it is delivered.
class Mailbox : public Input {
 public:
  void send(std::int64_t value) {
    sampled_.store(os::now());
    pending_.store(value);
  }
  Delivered deliver_pending() noexcept override {
    const std::int64_t value = pending_.load();
    if (value == delivered_.load()) {
      return {};
    }
    delivered_.store(value);
    return {.count = 1, .sampled = sampled_.load()};
  }
  std::int64_t pending() const { return pending_; }
  std::int64_t delivered() const { return delivered_; }

 private:
  std::atomic<std::int64_t> pending_{0};
  std::atomic<std::int64_t> delivered_{0};
  std::atomic<os::TimePoint> sampled_{};
};

class Data : public ::testing::TestWithParam<std::string> {
 protected:
  Options options() const {
    return {.policy = sched::parse_policy(GetParam()),
            .cpus = {0},
            .external_topics = {"outside"},
            .trace = file_.path(),
            .on_shortfalls = [](const auto&) {}};
  }
  TemporaryFile file_;
};

INSTANTIATE_TEST_SUITE_P(Policies, Data, ::testing::Values("fp", "edf", "np-edf"),
                         [](const auto& policy) {
                           std::string name = policy.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(Data, ATimerNeverRunsOnOldDataWhenNewerWasPending) {
  const auto box = std::make_shared<Mailbox>();
  std::atomic<int> stale{0};
  Executor executor{options()};
  sched::Task reader = timer("reader", 1ms, 30);
  reader.reads = {{.topic = "outside"}};
  // What was pending when the job was released must be there when the callback runs.
  executor.add(reader,
               {.callback = [&](const auto&) {}, .inputs = {{.topic = "outside", .input = box}}});
  std::atomic<std::int64_t> before{0};
  sched::Task checker = timer("checker", 1ms, 30, 0ns, 500us);
  checker.reads = {{.topic = "outside"}};
  class Watched : public Input {
   public:
    Watched(std::shared_ptr<Mailbox> mailbox, std::atomic<std::int64_t>& seen)
        : mailbox_(std::move(mailbox)), seen_(seen) {}
    Delivered deliver_pending() noexcept override {
      seen_ = mailbox_->pending();
      return mailbox_->deliver_pending();
    }

   private:
    std::shared_ptr<Mailbox> mailbox_;
    std::atomic<std::int64_t>& seen_;
  };
  executor.add(checker,
               {.callback = [&](const auto&) { stale += box->delivered() < before ? 1 : 0; },
                .inputs = {{.topic = "outside", .input = std::make_shared<Watched>(box, before)}}});
  std::atomic<bool> done{false};
  std::thread sender{[&] {
    for (std::int64_t value = 1; !done; ++value) {
      box->send(value);
      os::sleep_until(os::now() + 100us);
    }
  }};
  run_until_each_completed(executor, 100);
  done = true;
  sender.join();
  EXPECT_EQ(stale, 0);
  EXPECT_GT(executor.statistics(0).delivered, 20U);
  // In the trace: deliveries stand between the start and the end of the job that they are for.
  const trace::Trace trace = trace::read_trace(file_.path());
  const TracedJobs jobs = jobs_of(trace);
  int deliveries = 0;
  for (const trace::Event& event : trace.events) {
    if (event.type == trace::EventType::deliver) {
      const TracedJob& job = jobs.at({event.task, event.job});
      EXPECT_LE(*job.start, event.time);
      EXPECT_LE(event.time, job.end.value_or(event.time));
      EXPECT_EQ(trace.topics.at(event.topic), "outside");
      ++deliveries;
    }
  }
  EXPECT_GT(deliveries, 20);
}

TEST_P(Data, TooOldIsCountedAndReported) {
  const auto box = std::make_shared<Mailbox>();
  std::atomic<int> violations{0};
  std::atomic<int> without_data{0};
  Options with_handler = options();
  with_handler.handlers.age_violation = [&](const executor::AgeViolation& violation) {
    ++violations;
    EXPECT_EQ(violation.topic, "outside");
    EXPECT_EQ(violation.max_age, 50ms);
    EXPECT_GT(violation.age, violation.max_age);
    without_data += violation.age == std::chrono::nanoseconds::max() ? 1 : 0;
  };
  Executor executor{with_handler};
  sched::Task reader = timer("reader", 10ms, 30);
  reader.reads = {{.topic = "outside", .max_age = 50ms}};
  executor.add(reader, {.callback =
                            [&, sent = false](const sched::Job& job) mutable {
                              if (job.index >= 5 && !std::exchange(sent, true)) {
                                box->send(1);
                              }
                            },
                        .inputs = {{.topic = "outside", .input = box}}});
  run_until_each_completed(executor, 30);
  const auto statistics = executor.statistics(0);
  EXPECT_EQ(statistics.age_violations, static_cast<std::uint64_t>(violations));
  // No data until the sixth release or so has sent some; from 50 ms after that on it is too old.
  EXPECT_GE(without_data, 1);
  EXPECT_GE(violations, without_data + 10);
  EXPECT_LT(static_cast<std::uint64_t>(violations), statistics.completed);
}

// The producer comes by itself every 200 ms only, but the reader wants data of at most 30 ms.
TEST_P(Data, IsKeptYoungByReleasingItsSourceEarly) {
  if (const auto reason = no_real_time()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  std::atomic<std::int64_t> produced{0};
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
  executor.start();
  os::sleep_until(executor.start_time() + 500ms);
  executor.stop();
  const auto of_reader = executor.statistics(0);
  const auto of_producer = executor.statistics(1);
  EXPECT_GE(of_reader.completed, 20U);
  // Not at every job of the reader, only when the data would get too old.
  EXPECT_GE(of_producer.early_releases, 10U);
  EXPECT_LE(of_producer.completed, of_reader.completed + 1);
  const trace::Trace trace = trace::read_trace(file_.path());
  // The source runs before the reader that it is released for, in every case.
  int early = 0;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events[i].type != trace::EventType::early_release) {
      continue;
    }
    ++early;
    const auto next = std::ranges::find_if(trace.events.begin() + static_cast<std::ptrdiff_t>(i),
                                           trace.events.end(), [&](const trace::Event& event) {
                                             return event.type == trace::EventType::start &&
                                                    (trace.tasks.at(event.task) == "producer" ||
                                                     trace.tasks.at(event.task) == "reader");
                                           });
    if (next != trace.events.end()) {
      EXPECT_EQ(trace.tasks.at(next->task), "producer");
    }
  }
  EXPECT_EQ(static_cast<std::uint64_t>(early), of_producer.early_releases);
  // At most the very first job, which may come before there is any data.
  EXPECT_LE(of_reader.age_violations, 1U);
}

}  // namespace
}  // namespace takt::test
