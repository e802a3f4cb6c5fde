// SPDX-License-Identifier: Apache-2.0
//
// rclcpp's own executors against the simulator's decisions: the order of callbacks in recorded runs
// of drawn applications. Prints its counts. TAKT_RECORDED_RUNS asks for another number of runs.
#include <cstdlib>
#include <iostream>

#include "permitted.hpp"
#include "takt/analysis/analyse.hpp"

namespace takt::test {
namespace {

constexpr std::size_t most_ways = 2000;

std::size_t runs() {
  const char* const asked = std::getenv("TAKT_RECORDED_RUNS");
  constexpr std::size_t few = 10;
  return asked == nullptr ? few : std::stoul(asked);
}

// What a recording is held to besides its order: the bounds on its responses, if a job takes as
// long as the longest recorded one did from when its group and a thread were free.
struct Bounds {
  std::size_t held = 0;
  std::size_t above = 0;
};

nanoseconds longest(const Recording& recording, std::size_t callback, const Events& events) {
  nanoseconds longest{0};
  for (const std::size_t job : events.jobs_of(callback)) {
    longest = std::max(longest, recording.jobs[job].published - events.could_begin(job));
  }
  return longest;
}

Bounds bounds_of(const Recording& recording, const Executor& executor) {
  const Events events{recording, executor, false};
  Recording as_long = recording;
  std::vector<std::size_t> order(recording.callbacks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const std::size_t callback : order) {
    as_long.callbacks[callback].execution = longest(recording, callback, events);
  }
  const auto report =
      analysis::analyse(described(as_long.callbacks, order, executor.name, executor.threads),
                        {.sensitivity = false, .proposals = false});
  Bounds bounds;
  for (const std::size_t callback : order) {
    const auto bound = report.scenarios.front().callbacks[callback].response;
    for (const std::size_t job : events.jobs_of(callback)) {
      const nanoseconds response = recording.jobs[job].published - events.released(job);
      bounds.held += bound ? 1 : 0;
      bounds.above += bound && response > *bound ? 1 : 0;
    }
  }
  return bounds;
}

// The jobs around one of them, for the reader of a failure. Times in us.
void print(const Recording& recording, std::size_t around) {
  const auto us = [&](TimePoint time) {
    return std::chrono::duration<double, std::micro>(time - recording.begin).count();
  };
  for (std::size_t i = 0; i < recording.callbacks.size(); ++i) {
    const Drawn& drawn = recording.callbacks[i];
    std::cout << "  callback " << i << (drawn.is_timer() ? " timer" : " hears ")
              << (drawn.is_timer() ? "" : std::to_string(drawn.trigger)) << " group " << drawn.group
              << (drawn.reentrant ? " reentrant" : "") << " execution "
              << drawn.execution.count() / 1000 << '\n';
  }
  for (std::size_t i = around > 12 ? around - 12 : 0;
       i < std::min(around + 5, recording.jobs.size()); ++i) {
    const RecordedJob& job = recording.jobs[i];
    std::cout << (i == around ? "> " : "  ") << "callback " << job.callback << " thread "
              << job.thread << " release " << us(job.release) << " start " << us(job.start)
              << " computed " << us(job.computed) << " published " << us(job.published) << '\n';
  }
}

// Of all runs under one executor.
struct Counts {
  std::size_t runs = 0;
  std::size_t overlap = 0;
  std::size_t jobs = 0;
  std::size_t among = 0;
  std::size_t races = 0;
  std::size_t in_looks = 0;
  std::size_t late = 0;
  std::size_t differ = 0;
  std::size_t waited = 0;
  Bounds bounds;

  void add(const Recording& recording, const Executor& executor, const std::string& run) {
    if (recording.overlaps()) {
      ++overlap;
      return;
    }
    const Permission answer = is_permitted(recording, executor, most_ways);
    const Bounds of_run = bounds_of(recording, executor);
    ++runs;
    jobs += recording.jobs.size();
    const Events events{recording, executor, false};
    for (std::size_t job = 0; job < recording.jobs.size(); ++job) {
      waited += events.waited(job) > usual_race ? 1 : 0;
    }
    among += answer.among;
    races += answer.races > 0 ? 1 : 0;
    in_looks += answer.in_looks > 0 ? 1 : 0;
    late += answer.late ? 1 : 0;
    bounds.held += of_run.held;
    bounds.above += of_run.above;
    if (!answer.permitted) {
      ++differ;
      std::cout << run << ": " << answer.why << '\n';
      print(recording, answer.reached);
    }
  }

  void print_as(const std::string& name) const {
    std::cout << name << ": " << runs << " runs, " << jobs << " jobs, " << among
              << " of them taken while several were ready; " << differ << " runs not permitted, "
              << runs - races - differ << " permitted as recorded, " << races
              << " with a race, of these " << in_looks << " within a look, " << late
              << " with something late; " << overlap
              << " runs with a callback twice at once, not compared; " << waited
              << " jobs that waited while their group and a thread were free; " << bounds.above
              << " of " << bounds.held << " responses above their bounds\n";
  }
};

class DecisionsOfRclcpp : public WithContext, public testing::WithParamInterface<Executor> {};

TEST_P(DecisionsOfRclcpp, permit_the_order_of_each_recorded_run) {
  const Executor& executor = GetParam();
  const std::string own = executor.name.substr(std::string{"rclcpp_"}.size());
  const auto& names = takt_rclcpp::executor_names();
  if (std::ranges::find(names, own) == names.end()) {
    GTEST_SKIP() << "this rclcpp has no executor " << own;
  }
  Counts counts;
  // Threads that wait for timers begin at this priority, above those of the executor.
  os::Thread urgent{{.policy = os::SchedulingPolicy::fifo, .priority = 50}, [&] {
                      for (std::size_t run = 1; run <= runs(); ++run) {
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

// A callback of a reentrant group has no group in the simulation, and one job at a time.
TEST(decisions, of_a_wait_set_wait_for_a_callback_that_is_released_while_it_runs) {
  const auto at = [](std::int64_t ms) { return TimePoint{std::chrono::milliseconds{1000 + ms}}; };
  Recording recording;
  recording.callbacks = {{.period = 10ms, .reentrant = true}, {.period = 200ms, .offset = 12ms}};
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
  add(1, 1, 12, 12, 14);
  add(0, 0, 10, 15, 17);
  EXPECT_TRUE(is_permitted(recording, {"rclcpp_multi_threaded", 2}, most_ways).permitted);
}

}  // namespace
}  // namespace takt::test
