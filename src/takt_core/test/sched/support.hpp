// SPDX-License-Identifier: Apache-2.0
//
// Short ways to write task sets, and random ones.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "takt/sched/compiled.hpp"
#include "takt/sched/error.hpp"

namespace takt::sched {

using namespace std::chrono_literals;

constexpr TimePoint at(nanoseconds time) {
  return TimePoint{time};
}

inline Task timer(std::string name, nanoseconds period, nanoseconds execution = 0ns,
                  int priority = 0) {
  Task task{.name = std::move(name)};
  task.parameters.period = period;
  task.parameters.expected_execution = execution;
  task.parameters.priority = priority;
  return task;
}

inline Task message(std::string name, std::string topic, int priority = 0) {
  Task task{.name = std::move(name), .kind = TaskKind::message, .trigger = std::move(topic)};
  task.parameters.priority = priority;
  return task;
}

// The text of the ScheduleError that `body` throws; empty when it throws none.
template <class Body>
std::string error_of(Body body) {
  try {
    body();
  } catch (const ScheduleError& error) {
    return error.what();
  }
  return {};
}

// Seeded, so that a failure can be repeated.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  int number(int least, int most) { return std::uniform_int_distribution{least, most}(engine_); }
  bool chance(double share) { return std::bernoulli_distribution{share}(engine_); }
  nanoseconds time(int least_ms, int most_ms) {
    return std::chrono::milliseconds{number(least_ms, most_ms)};
  }

  // Few distinct values, so that ties are frequent.
  Job job(TaskIndex task) {
    const nanoseconds period = time(1, 6);
    const TimePoint release = at(time(0, 8));
    return {.task = task,
            .priority = number(1, 5),
            .index = static_cast<std::uint64_t>(number(0, 3)),
            .release = release,
            .deadline = release + time(1, 8),
            .period = period,
            .expected_execution = time(1, 4)};
  }

  std::vector<Job> jobs(int most) {
    std::vector<Job> result;
    const int count = number(1, most);
    for (int i = 0; i < count; ++i) {
      result.push_back(job(static_cast<TaskIndex>(i)));
    }
    return result;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace takt::sched
