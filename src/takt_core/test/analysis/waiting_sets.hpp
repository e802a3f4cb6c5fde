// SPDX-License-Identifier: Apache-2.0
//
// Sets with jobs that wait, by hand and at random, and their bounds.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/random_tasks.hpp"
#include "analysis/waiting_runs.hpp"
#include "takt/analysis/fixed_priority.hpp"

namespace takt::analysis {

using Bounds = std::vector<std::int64_t>;  // -1: none

inline std::vector<ComputingSegment> segments_of(const WaitingTask& task) {
  std::vector<ComputingSegment> result;
  for (std::size_t i = 0; i < task.segments.size(); i += 2) {
    const nanoseconds longest{task.segments[i].longest};
    const std::int64_t wait = i + 1 < task.segments.size() ? task.segments[i + 1].shortest : 0;
    result.push_back({.declared = longest, .longest = longest, .shortest_wait = nanoseconds{wait}});
  }
  return result;
}

// One tick is one nanosecond.
inline std::vector<Demand> demands_of(const std::vector<WaitingTask>& tasks) {
  std::vector<Demand> demands;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    sched::Level ceiling = sched::no_ceiling;
    for (const WaitingTask& other : tasks) {
      if (tasks[i].group != 0 && other.group == tasks[i].group) {
        ceiling = std::max<sched::Level>(ceiling, other.priority);
      }
    }
    demands.push_back({.task = i,
                       .releases = {.period = nanoseconds{tasks[i].period}},
                       .lag = nanoseconds{tasks[i].lag},
                       .execution = nanoseconds{tasks[i].execution},
                       .deadline = nanoseconds{tasks[i].period},
                       .level = tasks[i].priority,
                       .ceiling = ceiling,
                       .waits = tasks[i].suspension > 0,
                       .suspension = nanoseconds{tasks[i].suspension},
                       .suspensions = tasks[i].suspensions,
                       .segments = segments_of(tasks[i])});
  }
  return demands;
}

inline Bounds bounds_of(const std::vector<Demand>& demands) {
  Effort effort;
  Bounds result;
  for (const Response& response : fixed_priority_responses(demands, effort)) {
    result.push_back(response.bound ? response.bound->count() : -1);
  }
  return result;
}

inline std::string describe(const std::vector<WaitingTask>& tasks) {
  std::string result;
  for (const WaitingTask& task : tasks) {
    result += "C=" + std::to_string(task.execution) + " S=" + std::to_string(task.suspension) +
              " T=" + std::to_string(task.period) + " P=" + std::to_string(task.priority) +
              " G=" + std::to_string(task.group) + " J=" + std::to_string(task.lag) +
              " N=" + std::to_string(task.suspensions);
    for (const TickSegment& segment : task.segments) {
      result +=
          " [" + std::to_string(segment.shortest) + "," + std::to_string(segment.longest) + "]";
    }
    result += "; ";
  }
  return result;
}

// Computes, waits, and computes again for so many ticks.
inline std::vector<bool> plan(std::int64_t computes, std::int64_t waits, std::int64_t again = 0) {
  std::vector<bool> result(static_cast<std::size_t>(computes), true);
  result.insert(result.end(), static_cast<std::size_t>(waits), false);
  result.insert(result.end(), static_cast<std::size_t>(again), true);
  return result;
}

// Whether a job with this plan waits no more often than declared.
inline bool is_plan_of(const WaitingTask& task, const std::vector<bool>& computes) {
  std::int64_t waits = 0;
  for (std::size_t i = 0; i < computes.size(); ++i) {
    waits += !computes[i] && (i == 0 || computes[i - 1]) ? 1 : 0;
  }
  return task.suspensions == 0 || waits <= task.suspensions;
}

struct Form {
  bool equal_priorities = false;
  bool groups = false;
  bool lags = false;
  std::int64_t waits = 0;  // most of one job; 0: any number
};

inline std::vector<WaitingTask> random_set(RandomTasks& random, std::int64_t most_tasks,
                                           std::int64_t most_period, const Form& form) {
  for (;;) {
    std::vector<WaitingTask> tasks(static_cast<std::size_t>(random.number(2, most_tasks)));
    double demand = 0;
    bool waits = false;
    int priority = 1;
    for (WaitingTask& task : tasks) {
      task.period = random.number(3, most_period);
      task.execution = random.number(1, std::max<std::int64_t>(1, task.period / 3));
      task.suspension = random.chance(0.6) ? random.number(1, task.period / 2) : 0;
      task.priority = form.equal_priorities ? static_cast<int>(random.number(1, 2)) : priority++;
      task.group = form.groups && task.suspension == 0 && random.chance(0.7) ? 1 : 0;
      task.suspensions = task.suspension > 0 && form.waits > 0 ? random.number(1, form.waits) : 0;
      task.lag = form.lags ? random.number(0, 3) : 0;
      demand += static_cast<double>(task.execution) / static_cast<double>(task.period);
      waits = waits || task.suspension > 0;
    }
    if (waits && demand <= 0.95) {
      return tasks;
    }
  }
}

}  // namespace takt::analysis
