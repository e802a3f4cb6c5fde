// SPDX-License-Identifier: Apache-2.0
//
// Who publishes of a join, in the state itself and in simulation.
#include <atomic>
#include <thread>

#include "sim/schedule.hpp"
#include "takt/sched/join.hpp"

namespace takt::sim {
namespace {

TEST(Join, is_complete_when_each_callback_has_stored_since_the_last_time) {
  sched::Join join{3};
  EXPECT_FALSE(join.store(0, at(1ms)));
  EXPECT_FALSE(join.store(0, at(5ms)));  // replaces the first
  EXPECT_FALSE(join.store(2, at(3ms)));
  EXPECT_TRUE(join.store(1, at(4ms)));
  EXPECT_EQ(join.oldest(), at(3ms));
  EXPECT_FALSE(join.store(1, at(6ms)));
  EXPECT_FALSE(join.store(2, at(7ms)));
  EXPECT_TRUE(join.store(0, at(8ms)));
  EXPECT_EQ(join.oldest(), at(6ms));
}

TEST(Join, is_complete_with_all_bits_of_a_word) {
  sched::Join join{sched::Join::most_inputs};
  for (std::size_t input = 0; input + 1 < sched::Join::most_inputs; ++input) {
    EXPECT_FALSE(join.store(input, at(1ms)));
  }
  EXPECT_TRUE(join.store(sched::Join::most_inputs - 1, at(1ms)));
}

// Each publication uses up one message of each thread.
TEST(Join, of_several_threads_publishes_once_for_each_set) {
  sched::Join join{2};
  constexpr int jobs = 20'000;
  std::atomic<int> publications{0};
  const auto store = [&](std::size_t input) {
    for (int job = 0; job < jobs; ++job) {
      if (join.store(input, at(1ms))) {
        publications.fetch_add(1);
      }
    }
  };
  std::thread other{store, 1};
  store(0);
  other.join();
  EXPECT_GE(publications.load(), 1);
  EXPECT_LE(publications.load(), jobs);
}

// Two timers of 10 and 30 ms whose messages a node joins.
application::Application fast_and_slow(bool slow_active) {
  std::vector<Task> tasks{timer("fast", 10ms, 1ms, 40), timer("slow", 30ms, 1ms, 30),
                          sched::message("n.fast", "f", 20), sched::message("n.slow", "s", 10),
                          sched::message("reader", "t", 5)};
  tasks[0].writes = {"f"};
  tasks[1].writes = {"s"};
  tasks[1].parameters.active = slow_active;
  for (std::size_t i = 2; i < tasks.size(); ++i) {
    tasks[i].parameters.expected_execution = 1ms;
    tasks[i].parameters.deadline = 100ms;
  }
  tasks[2].writes = tasks[3].writes = {"t"};
  application::Application app = application(tasks, "fp");
  for (const std::size_t input : {2U, 3U}) {
    app.callbacks[input].node = "n";
    app.callbacks[input].join = "both";
  }
  app.chains = {{.name = "fast", .callbacks = {"fast", "n.fast", "reader"}},
                {.name = "slow", .callbacks = {"slow", "n.slow", "reader"}}};
  return app;
}

TEST(Joins, publish_as_often_as_the_slowest_callback) {
  const Schedule schedule = sim::schedule(fast_and_slow(true), 90ms);
  // fast 0, slow 1, n.fast 2, n.slow 3: complete at 4.
  EXPECT_EQ(schedule.releases.at({4, 0}), at(4ms));
  EXPECT_EQ(schedule.releases.at({4, 1}), at(34ms));
  EXPECT_EQ(schedule.result.callbacks[4].jobs, 3U);
  EXPECT_EQ(schedule.result.chains[0].latency.max, 5ms);  // of 0, 30, 60 alone: the newest
  EXPECT_EQ(schedule.result.chains[0].latency.count, 3U);
  EXPECT_EQ(schedule.result.chains[1].latency.max, 5ms);
}

TEST(Joins, are_silent_without_one_of_their_callbacks) {
  const Schedule schedule = sim::schedule(fast_and_slow(false), 90ms);
  EXPECT_EQ(schedule.result.callbacks[2].jobs, 9U);
  EXPECT_EQ(schedule.result.callbacks[4].jobs, 0U);
}

}  // namespace
}  // namespace takt::sim
