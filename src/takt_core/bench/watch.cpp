// SPDX-License-Identifier: Apache-2.0
//
// What limits cost that an executor watches: from the end of one callback to the begin of the next
// one that waits already, with and without them. Each task has a limit on its response and skips,
// and is the first, the middle or the last place of a chain.
#include <array>
#include <optional>

#include "bench.hpp"

namespace takt::bench {
namespace {

using Samples = std::vector<std::int64_t>;

constexpr int tasks = 48;  // chains of three
constexpr int places = 3;
constexpr nanoseconds period = 10ms;

std::string task_name(int task) {
  return "task" + std::to_string(task);
}

executor::Limits limits() {
  executor::Limits all;
  for (int task = 0; task < tasks; ++task) {
    all.callbacks.push_back({.callback = task_name(task), .response = period, .skipped = 0.0});
    if (task % places == 0) {
      all.chains.push_back(
          {.chain = "chain" + std::to_string(task / places),
           .callbacks = {task_name(task), task_name(task + 1), task_name(task + 2)},
           .latency = period,
           .age = period});
    }
  }
  return all;
}

void gaps(const Settings& settings, bool watched, Samples& samples) {
  executor::Executor executor{{.policy = sched::parse_policy("fp"),
                               .cpus = {settings.cpu},
                               .on_not_granted = note_not_granted}};
  if (watched) {
    executor.set_limits(limits());
  }
  os::TimePoint last_end;
  os::TimePoint last_release;
  std::array<std::optional<std::int64_t>, tasks>
      published;  // by its own key, which no other job has
  for (int i = 0; i < tasks; ++i) {
    executor.add(
        timer(task_name(i), period, 40), {[&, i](const sched::Job& job) {
          const os::TimePoint begin = os::now();
          if (job.release == last_release && job.index > 2 && samples.size() < samples.capacity()) {
            samples.push_back((begin - last_end).count());
          }
          last_release = job.release;
          last_end = os::now();  // what follows is a cost of watching, too
          if (i % places != 0 && published.at(i - 1)) {
            executor::use_message(*published.at(i - 1));
          }
          published.at(i) = begin.time_since_epoch().count();
          executor::publish_message(*published.at(i));
        }});
  }
  executor.start();
  os::sleep_until(executor.start_time() + settings.duration);
  executor.stop();
}

}  // namespace

void watch_cost(const Settings& settings) {
  std::array<Samples, 2> found;  // without, with
  for (Samples& samples : found) {
    samples.reserve(static_cast<std::size_t>(settings.duration / period + 10) * tasks *
                    static_cast<std::size_t>(settings.rounds) * 2);
  }
  for (int round = 0; round < settings.rounds; ++round) {
    for (const bool watched : {false, true, true, false}) {  // a drift hits both alike
      Settings half = settings;
      half.duration = settings.duration / 2;
      gaps(half, watched, found.at(watched ? 1 : 0));
    }
  }
  Json rows = Json::array();
  for (const bool watched : {false, true}) {
    Samples& samples = found.at(watched ? 1 : 0);
    rows.push_back({{"what", watched ? "with limits" : "without limits"},
                    {"p50_ns", quantile(samples, 0.5)},
                    {"p99_ns", quantile(samples, 0.99)},
                    {"samples", samples.size()}});
  }
  print_document("watch", settings, rows);
}

}  // namespace takt::bench
