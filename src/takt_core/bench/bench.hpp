// SPDX-License-Identifier: Apache-2.0
//
// What the modes of bench_executor share. A mode prints one JSON document; it judges nothing.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "takt/executor/executor.hpp"
#include "takt/os/clock.hpp"

namespace takt::bench {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;

struct Settings {
  int rounds = 7;
  nanoseconds duration = 500ms;  // of each cell in each round
  int cpu = 0;
};

// Each prints its document to standard output.
void dispatch(const Settings& settings);
void wakeup(const Settings& settings);
void preempt(const Settings& settings);
void switch_latency(const Settings& settings);
void trace_cost(const Settings& settings);
void overheads(const Settings& settings);
void watch_cost(const Settings& settings);

// Sorts. Of the nearest rank; 0 for no samples.
inline std::int64_t quantile(std::vector<std::int64_t>& samples, double p) {
  if (samples.empty()) {
    return 0;
  }
  std::ranges::sort(samples);
  const auto rank = static_cast<std::size_t>(p * static_cast<double>(samples.size() - 1) + 0.5);
  return samples[rank];
}

inline double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

inline void burn_until(os::TimePoint end) {
  while (os::now() < end) {
  }
}

// The document's rows, each an object.
void print_document(const std::string& mode, const Settings& settings, const Json& rows);

// So that every document says under which conditions it came about.
void note_not_granted(const os::SettingsNotGranted& not_granted);

inline sched::Task timer(std::string name, nanoseconds period, int priority,
                         nanoseconds offset = 0ns) {
  sched::Task task;
  task.name = std::move(name);
  task.parameters.period = period;
  task.parameters.priority = priority;
  task.parameters.offset = offset;
  return task;
}

}  // namespace takt::bench
