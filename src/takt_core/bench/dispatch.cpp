// SPDX-License-Identifier: Apache-2.0
//
// CPU time of the whole process for each executed callback, all of them empty timers of 10 ms.
// Aligned: all are released at once, one wake-up serves many. Spread: each by itself.
#include "bench.hpp"
#include "takt/os/usage.hpp"

namespace takt::bench {
namespace {

struct Point {
  const char* policy;
  int tasks;
  int priorities;
  bool aligned;
  std::vector<double> cpu_ns = {};  // for each callback, by round
  std::uint64_t callbacks = 0;
};

void measure(Point& point, const Settings& settings) {
  executor::Executor executor{{.policy = sched::parse_policy(point.policy),
                               .cpus = {settings.cpu},
                               .on_not_granted = note_not_granted}};
  constexpr nanoseconds period = 10ms;
  for (int i = 0; i < point.tasks; ++i) {
    executor.add(timer("task" + std::to_string(i), period, 40 + i % point.priorities,
                       point.aligned ? 0ns : i * period / point.tasks),
                 {[](const auto&) {}});
  }
  const auto completed = [&] {
    std::uint64_t sum = 0;
    for (int i = 0; i < point.tasks; ++i) {
      sum += executor.statistics(static_cast<sched::TaskIndex>(i)).completed;
    }
    return sum;
  };
  executor.start();
  const os::TimePoint begin = executor.start_time() + 5 * period + period / 2;
  os::sleep_until(begin);
  const os::ResourceUsage before = os::resource_usage(os::UsageOf::process);
  const std::uint64_t first = completed();
  os::sleep_until(begin + settings.duration);
  const os::ResourceUsage used = os::resource_usage(os::UsageOf::process) - before;
  const std::uint64_t count = completed() - first;
  executor.stop();
  point.callbacks += count;
  point.cpu_ns.push_back(static_cast<double>(used.cpu_time.count()) /
                         static_cast<double>(count == 0 ? 1 : count));
}

}  // namespace

void dispatch(const Settings& settings) {
  std::vector<Point> points;
  for (const char* policy : {"fp", "edf"}) {
    for (const int tasks : {1, 10, 50, 200}) {
      for (const int priorities : {1, 10}) {
        for (const bool aligned : {true, false}) {
          if (priorities <= tasks && (priorities == 1 || std::string{policy} == "fp")) {
            points.push_back(
                {.policy = policy, .tasks = tasks, .priorities = priorities, .aligned = aligned});
          }
        }
      }
    }
  }
  for (int round = 0; round < settings.rounds; ++round) {
    for (Point& point : points) {
      measure(point, settings);
    }
  }
  Json rows = Json::array();
  for (const Point& point : points) {
    rows.push_back({{"policy", point.policy},
                    {"tasks", point.tasks},
                    {"priorities", point.priorities},
                    {"releases", point.aligned ? "aligned" : "spread"},
                    {"cpu_ns_per_callback", median(point.cpu_ns)},
                    {"callbacks", point.callbacks},
                    {"by_round", point.cpu_ns}});
  }
  print_document("dispatch", settings, rows);
}

}  // namespace takt::bench
