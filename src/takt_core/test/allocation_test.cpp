// SPDX-License-Identifier: Apache-2.0
//
// What runs in the measuring loop must not allocate: every operator new is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "takt/os/clock.hpp"
#include "takt/os/event.hpp"
#include "takt/os/stop.hpp"
#include "takt/os/usage.hpp"
#include "takt/sched/compiled.hpp"
#include "takt/sched/ready_queue.hpp"
#include "takt/sim/simulation.hpp"
#include "takt/stats/histogram.hpp"

namespace {

std::atomic<long> allocations{0};

void* counted_allocation(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc{};
}

}  // namespace

// The array forms come down to these. So do the nothrow forms, but under AddressSanitizer.
void* operator new(std::size_t size) {
  return counted_allocation(size);
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace takt {
namespace {

using namespace std::chrono_literals;

template <typename Body>
long allocations_of(Body body) {
  const long before = allocations;
  body();
  return allocations - before;
}

TEST(Allocation, is_seen_by_the_counter) {
  EXPECT_EQ(allocations_of([] { const std::vector<char> memory(100'000); }), 1);
}

TEST(Allocation, none_while_recording_into_a_histogram) {
  stats::Histogram histogram;
  stats::Histogram other;
  EXPECT_EQ(allocations_of([&] {
              for (std::int64_t ns = 1; ns < std::int64_t{1} << 62; ns += ns / 2 + 1) {
                histogram.record(std::chrono::nanoseconds{ns});
                histogram.record(std::chrono::nanoseconds{-ns});
              }
              histogram.merge(other);
            }),
            0);
  EXPECT_GT(histogram.count(), 100U);
}

TEST(Allocation, none_while_threads_hand_over_an_event) {
  os::Event there;
  os::Event back;
  std::jthread other{[&] {
    for (int round = 0; round < 100; ++round) {
      there.wait();
      back.notify();
    }
  }};
  there.notify();  // the thread has started and allocated what it wants
  back.wait();
  EXPECT_EQ(allocations_of([&] {
              for (int round = 1; round < 100; ++round) {
                there.notify();
                while (!back.wait_until(os::now() + 1ms)) {
                }
              }
            }),
            0);
}

TEST(Allocation, none_in_the_calls_of_a_measuring_loop) {
  os::StopFlag stop;
  EXPECT_EQ(allocations_of([&] {
              os::sleep_until(os::now() + 10us);
              os::sleep_until(os::now() + 10us, stop);
              static_cast<void>(stop.wait_until(os::now() + 10us));
              os::resource_usage(os::UsageOf::thread);
              os::realtime_offset();
              stop.request();
            }),
            0);
}

TEST(Allocation, none_while_deciding_which_job_runs) {
  std::vector<sched::Task> tasks(20);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].name = std::to_string(i);
    tasks[i].group = i % 3 == 0 ? "bus" : "";
    tasks[i].parameters.period = std::chrono::milliseconds{10 + i};
    tasks[i].parameters.expected_execution = 1ms;
    tasks[i].parameters.priority = static_cast<int>(i) + 1;
  }
  for (const std::string_view name : sched::policy_names()) {
    const sched::CompiledStrategy strategy{tasks, sched::parse_policy(name)};
    const sched::CompiledScenario& scenario = strategy.scenarios().front();
    sched::ReadyQueue queue{scenario.policy(), tasks.size()};
    std::vector<sched::Job> pending(tasks.size());
    const sched::Job next = scenario.job(0, 1, os::TimePoint{5ms});
    bool done = true;
    int decided = 0;
    EXPECT_EQ(allocations_of([&] {
                for (sched::TaskIndex task = 0; task < tasks.size(); ++task) {
                  done = queue.push(scenario.job(task, 0, os::TimePoint{1ms})) && done;
                }
                done = strategy.find_scenario("default").has_value() && done;
                while (!queue.empty()) {
                  std::ranges::copy(queue.jobs(), pending.begin());
                  const sched::Decision decision = scenario.policy().decide(
                      std::span{pending}.first(queue.size()), {&next, 1}, os::TimePoint{2ms});
                  decided += decision.job != sched::Decision::none ? 1 : 0;
                  queue.pop();
                }
              }),
              0)
        << name;
    EXPECT_TRUE(done) << name;
    EXPECT_GT(decided, 0) << name;
  }
}

// Timers, a message task, an overrun and preemptions: a long simulation takes as much as a short
// one, so its memory does not grow with its length.
TEST(Allocation, none_for_each_job_of_a_simulation) {
  application::Application app{.name = "memory", .policy = "edf"};
  for (int i = 0; i < 3; ++i) {
    application::Callback callback;
    callback.task.name = "timer " + std::to_string(i);
    callback.task.parameters.period = (2 + i) * 1ms;
    callback.execution.worst = 800us;
    app.callbacks.push_back(callback);
  }
  app.callbacks[0].task.writes = {"data"};
  app.callbacks[1].task.reads = {{.topic = "data", .max_age = 5ms}};
  application::Callback message;
  message.task = {.name = "message", .kind = sched::TaskKind::message, .trigger = "data"};
  message.task.parameters.deadline = 5ms;
  message.execution.worst = 500us;
  app.callbacks.push_back(message);
  app.chains = {{.name = "chain", .callbacks = {"timer 0", "message"}}};
  std::uint64_t jobs = 0;
  const long brief = allocations_of([&] { jobs = sim::simulate(app, {.duration = 100ms}).jobs; });
  const long lengthy = allocations_of([&] { jobs = sim::simulate(app, {.duration = 10s}).jobs; });
  EXPECT_GT(jobs, 10'000U);
  EXPECT_EQ(brief, lengthy);
}

}  // namespace
}  // namespace takt
