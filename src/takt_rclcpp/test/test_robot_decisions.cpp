// SPDX-License-Identifier: Apache-2.0
//
// rclcpp's own executors against the simulator's decisions in applications of two processes: the
// order of callbacks in each, with the messages, requests and responses that came from the other
// when it was recorded to send them. TAKT_RECORDED_RUNS asks for another number of runs.
#include <map>
#include <sstream>

#include "compared.hpp"
#include "drawn_robot.hpp"
#include "line_process.hpp"

namespace takt::test {
namespace {

constexpr std::size_t few_ways = 500;  // because there are more orders

const std::vector<Executor>& executors() {
  static const std::vector<Executor> all = [] {
    const auto& names = takt_rclcpp::executor_names();
    std::vector<Executor> known{{"rclcpp_single_threaded", 1},
                                {"rclcpp_events", 1},
                                {"rclcpp_multi_threaded", 2},
                                {"rclcpp_events_cbg", 2}};
    std::erase_if(known, [&](const Executor& one) {
      return std::ranges::find(names, own_name(one)) == names.end();
    });
    return known;
  }();
  return all;
}

// What both processes did in one run.
Recording record(const std::array<std::unique_ptr<LineProcess>, 2>& processes, std::uint64_t seed,
                 const std::array<Executor, 2>& pair) {
  constexpr nanoseconds duration = 40ms;
  std::stringstream what;
  what << unique("robot") << '_' << seed << ' ' << seed;
  for (const Executor& executor : pair) {
    what << ' ' << own_name(executor) << ' ' << executor.threads;
  }
  for (const auto& process : processes) {
    process->say(what.str());
  }
  for (const auto& process : processes) {
    if (process->hear() != "ready") {
      throw std::runtime_error("a process ended before its run");
    }
  }
  Recording recording;
  recording.callbacks = draw_robot(seed, {pair[0].threads, pair[1].threads});
  recording.begin = os::now() + 50ms;  // services have found their clients by then, too
  recording.end = recording.begin + duration;
  for (const auto& process : processes) {
    process->say(std::to_string(recording.begin.time_since_epoch().count()) + ' ' +
                 std::to_string(duration.count()));
  }
  for (const auto& process : processes) {
    std::int64_t begin = 0;
    std::size_t count = 0;
    std::stringstream{process->hear()} >> begin >> count;
    EXPECT_EQ(recording.begin, TimePoint{nanoseconds{begin}}) << "it began too late";
    for (std::size_t i = 0; i < count; ++i) {
      std::stringstream line{process->hear()};
      RecordedJob job;
      line >> job.callback >> job.thread;
      for (TimePoint* const time : {&job.release, &job.start, &job.computed, &job.published}) {
        std::int64_t ns = 0;
        line >> ns;
        *time = TimePoint{nanoseconds{ns}};
      }
      recording.jobs.push_back(job);
    }
  }
  std::ranges::stable_sort(recording.jobs, {}, &RecordedJob::start);
  return recording;
}

TEST(DecisionsOfRobots, permit_the_order_of_each_process_of_each_recorded_run) {
  std::array<std::unique_ptr<LineProcess>, 2> processes;
  for (std::size_t process = 0; process < 2; ++process) {
    processes.at(process) = std::make_unique<LineProcess>(
        std::vector<std::string>{RECORDED_PROCESS, std::to_string(process)});
  }
  std::map<std::string, Counts> counts;
  for (std::size_t run = 1; run <= asked_runs(8); ++run) {
    const auto& all = executors();
    const std::array<Executor, 2> pair{all[run % all.size()], all[run / all.size() % all.size()]};
    const Recording recording = record(processes, run, pair);
    for (std::size_t process = 0; process < 2; ++process) {
      counts[pair.at(process).name].add(
          process_of(recording, process), pair.at(process),
          "run " + std::to_string(run) + " process " + std::to_string(process), few_ways);
    }
  }
  for (const auto& [name, count] : counts) {
    count.print_as(name);
    EXPECT_GT(count.outside, 0U) << name;
    // As in one process.
    EXPECT_LE(count.differ, 1 + count.runs / 100) << name;
  }
}

// By hand: timer 0 of another process sends a message to callback 2 at 5 ms, and timer 3 expires at
// 8 ms, while timer 1 runs until 15 ms. Then `first` and `second` run.
Recording recorded(std::size_t first, std::size_t second) {
  const auto at = [](std::int64_t ms) { return TimePoint{std::chrono::milliseconds{1000 + ms}}; };
  Recording all;
  all.callbacks = {{.period = 200ms, .process = 1},
                   {.period = 200ms},
                   {.trigger = 0},
                   {.period = 200ms, .offset = 8ms}};
  all.begin = at(0);
  all.end = at(100);
  const auto add = [&](std::size_t callback, std::int64_t start, std::int64_t end) {
    all.jobs.push_back({.callback = callback,
                        .release = all.begin + all.callbacks[callback].offset,
                        .start = at(start),
                        .computed = at(end),
                        .published = at(end)});
  };
  add(0, 0, 5);
  add(1, 0, 15);
  add(first, 15, 16);
  add(second, 16, 17);
  return all;
}

TEST(DecisionsOfRobots, of_a_wait_set_are_not_the_decisions_of_a_queue) {
  const auto permits = [](const Executor& executor, const Recording& all) {
    const Permission answer = is_permitted(process_of(all, 0), executor, most_ways);
    return answer.permitted && !answer.late;
  };
  EXPECT_TRUE(permits({"rclcpp_single_threaded", 1}, recorded(3, 2)));
  EXPECT_FALSE(permits({"rclcpp_single_threaded", 1}, recorded(2, 3)));
  EXPECT_TRUE(permits({"rclcpp_events", 1}, recorded(2, 3)));
  EXPECT_FALSE(permits({"rclcpp_events", 1}, recorded(3, 2)));
}

}  // namespace
}  // namespace takt::test
