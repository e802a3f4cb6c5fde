// SPDX-License-Identifier: Apache-2.0
//
// A simulation as its schedule: every job and every uninterrupted piece of one, from the trace.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sched/support.hpp"
#include "takt/sim/simulation.hpp"
#include "takt/testing/temporary.hpp"
#include "takt/trace/reader.hpp"
#include "takt/trace/timeline.hpp"

namespace takt::sim {

using namespace std::chrono_literals;
using sched::at;
using sched::Task;
using sched::TaskIndex;
using sched::TimePoint;
using sched::timer;
using JobId = std::pair<TaskIndex, std::uint64_t>;

struct Finished {
  JobId id;
  TimePoint release;
  TimePoint start;
  TimePoint end;
  std::int64_t deadline = trace::no_deadline;
  std::int64_t priority = 0;
};

struct Piece {
  JobId id;
  TimePoint from;
  TimePoint to;
};

struct Schedule {
  Result result;
  trace::Trace trace;
  std::vector<Finished> finished = {};       // by end
  std::map<JobId, TimePoint> releases = {};  // of all jobs
  std::vector<Piece> pieces = {};            // by begin

  // (task, (start, end)) by end: what two schedules are compared by.
  using Summary = std::vector<std::pair<TaskIndex, std::pair<nanoseconds, nanoseconds>>>;
  [[nodiscard]] Summary summary() const {
    Summary summary;
    for (const Finished& job : finished) {
      summary.push_back({job.id.first, {job.start.time_since_epoch(), job.end.time_since_epoch()}});
    }
    return summary;
  }
};

// Jobs take their expected execution time.
inline application::Application application(const std::vector<Task>& tasks,
                                            const std::string& policy) {
  application::Application application{.name = "test", .policy = policy};
  for (const Task& task : tasks) {
    const nanoseconds execution = task.parameters.expected_execution;
    application.callbacks.push_back(
        {.task = task, .execution = {.best = execution, .worst = execution}});
  }
  return application;
}

inline application::Application application(const std::vector<Task>& tasks,
                                            const sched::PolicyPtr& policy) {
  application::Application result = application(tasks, "edf");
  result.strategy.emplace().add_scenario(
      sched::SchedulingScenario{"only"}.set_scheduling_policy(policy));
  return result;
}

inline Schedule schedule(const application::Application& application, nanoseconds duration,
                         Options options = {}) {
  const test::TemporaryFile file;
  options.duration = duration;
  options.trace = file.path();
  options.percentiles = false;
  Schedule schedule{.result = simulate(application, options),
                    .trace = trace::read_trace(file.path())};
  std::map<JobId, Finished> jobs;
  for (const trace::Event& event : schedule.trace.events) {
    const JobId id{event.task, event.job};
    const TimePoint time{nanoseconds{event.time}};
    switch (event.type) {
      case trace::EventType::release:
        schedule.releases[id] = time;
        jobs[id].id = id;
        jobs[id].release = time;
        jobs[id].deadline = event.value;
        break;
      case trace::EventType::start:
        jobs[id].start = time;
        jobs[id].priority = event.value;
        break;
      case trace::EventType::end:
        jobs[id].end = time;
        schedule.finished.push_back(jobs[id]);
        break;
      default:
        break;
    }
  }
  for (const trace::Slice& slice : trace::timeline(schedule.trace.events).slices) {
    schedule.pieces.push_back({.id = {slice.task, slice.job},
                               .from = at(nanoseconds{slice.begin}),
                               .to = at(nanoseconds{slice.end})});
  }
  return schedule;
}

inline const CallbackResult& callback(const Result& result, std::string_view name) {
  return *std::ranges::find(result.callbacks, name, &CallbackResult::name);
}

}  // namespace takt::sim
