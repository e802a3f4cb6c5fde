// SPDX-License-Identifier: Apache-2.0
//
// rclcpp's own executors against the simulator's decisions: the order of callbacks in recorded runs
// of drawn applications. Prints its counts. TAKT_RECORDED_RUNS asks for another number of runs.
#include "compared.hpp"

namespace takt::test {
namespace {

class DecisionsOfRclcpp : public WithContext, public testing::WithParamInterface<Executor> {};

TEST_P(DecisionsOfRclcpp, permit_the_order_of_each_recorded_run) {
  const Executor& executor = GetParam();
  const std::string own = own_name(executor);
  const auto& names = takt_rclcpp::executor_names();
  if (std::ranges::find(names, own) == names.end()) {
    GTEST_SKIP() << "this rclcpp has no executor " << own;
  }
  Counts counts;
  // Threads that wait for timers begin at this priority, above those of the executor.
  os::Thread urgent{{.policy = os::SchedulingPolicy::fifo, .priority = 50}, [&] {
                      for (std::size_t run = 1; run <= asked_runs(10); ++run) {
                        Recording recording;
                        {
                          Recorder recorder{draw(run, executor.threads)};
                          recording = recorder.run(own, executor.threads, 40ms);
                        }
                        os::run_without_priority(
                            [&] { counts.add(recording, executor, "run " + std::to_string(run)); });
                      }
                    }};
  urgent.join();
  counts.print_as(executor.name);
  // A thread that the machine stops after its wait takes from what it found then, however long ago;
  // no order of the events shows this.
  EXPECT_LE(counts.differ, 1 + counts.runs / 100);
}

INSTANTIATE_TEST_SUITE_P(stock, DecisionsOfRclcpp,
                         testing::Values(Executor{"rclcpp_single_threaded", 1},
                                         Executor{"rclcpp_events", 1},
                                         Executor{"rclcpp_multi_threaded", 2},
                                         Executor{"rclcpp_events_cbg", 2}),
                         [](const auto& one) { return one.param.name; });

// By hand, on one thread: timer 0 sends a message to callback 2 at 5 ms, and timer 3 expires at 8
// ms, while timer 1 runs from 5 to 15 ms. Then `first` and `second` run.
Recording recorded(std::size_t first, std::size_t second) {
  const auto at = [](std::int64_t ms) { return TimePoint{std::chrono::milliseconds{1000 + ms}}; };
  Recording recording;
  recording.callbacks = {
      {.period = 200ms}, {.period = 200ms}, {.trigger = 0}, {.period = 200ms, .offset = 8ms}};
  recording.begin = at(0);
  recording.end = at(100);
  const auto add = [&](std::size_t callback, std::int64_t start, std::int64_t end) {
    recording.jobs.push_back({.callback = callback,
                              .release = recording.begin + recording.callbacks[callback].offset,
                              .start = at(start),
                              .computed = at(end),
                              .published = at(end)});
  };
  add(0, 0, 5);
  add(1, 5, 15);
  add(first, 15, 16);
  add(second, 16, 17);
  return recording;
}

// Where no thread sees anything late.
bool is_in_time(const std::string& executor, const Recording& recording) {
  const Permission answer = is_permitted(recording, {executor, 1}, most_ways);
  return answer.permitted && !answer.late;
}

TEST(decisions, of_a_wait_set_do_not_permit_the_order_of_a_queue) {
  for (const std::string executor : {"rclcpp_single_threaded", "rclcpp_multi_threaded"}) {
    EXPECT_TRUE(is_in_time(executor, recorded(3, 2)));
    EXPECT_FALSE(is_in_time(executor, recorded(2, 3)));
  }
  for (const std::string executor : {"rclcpp_events", "rclcpp_events_cbg"}) {
    EXPECT_TRUE(is_in_time(executor, recorded(2, 3)));
    EXPECT_FALSE(is_in_time(executor, recorded(3, 2)));
  }
}

// A timer expires again while its callback runs and the other thread is free.
TEST(decisions, of_a_wait_set_begin_a_reentrant_callback_while_it_runs) {
  const auto at = [](std::int64_t ms) { return TimePoint{std::chrono::milliseconds{1000 + ms}}; };
  const auto in_time = [&](bool reentrant, bool at_once) {
    Recording recording;
    recording.callbacks = {{.period = 10ms, .reentrant = reentrant},
                           {.period = 200ms, .offset = 12ms}};
    recording.begin = at(0);
    recording.end = at(18);
    const auto add = [&](std::size_t callback, int thread, std::int64_t release, std::int64_t start,
                         std::int64_t end) {
      recording.jobs.push_back({.callback = callback,
                                .thread = thread,
                                .release = at(release),
                                .start = at(start),
                                .computed = at(end),
                                .published = at(end)});
    };
    add(0, 0, 0, 0, 15);
    if (at_once) {
      add(0, 1, 10, 10, 16);
      add(1, 0, 12, 15, 17);
    } else {
      add(1, 1, 12, 12, 14);
      add(0, 0, 10, 15, 17);
    }
    const Permission answer = is_permitted(recording, {"rclcpp_multi_threaded", 2}, most_ways);
    return answer.permitted && !answer.late;
  };
  EXPECT_TRUE(in_time(true, true));
  EXPECT_FALSE(in_time(true, false));
  EXPECT_TRUE(in_time(false, false));
  EXPECT_FALSE(in_time(false, true));
}

}  // namespace
}  // namespace takt::test
