// SPDX-License-Identifier: Apache-2.0
//
// Running an executor for a bounded time with a trace, and reading from the trace what happened.
// Nothing here compares times with the wall clock: only order and counts are judged.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "takt/executor/executor.hpp"
#include "takt/os/clock.hpp"
#include "takt/os/thread.hpp"
#include "takt/sched/ready_queue.hpp"
#include "takt/testing/patience.hpp"
#include "takt/testing/temporary.hpp"
#include "takt/trace/reader.hpp"
#include "takt/trace/timeline.hpp"

namespace takt::test {

using executor::Binding;
using executor::Executor;
using executor::Options;

// A test that runs under each of some policies.
class UnderPolicy : public ::testing::TestWithParam<std::string> {
 protected:
  static Options options() {
    return {.policy = sched::parse_policy(GetParam()),
            .external_topics = {"outside"},
            .on_not_granted = [](const auto&) {}};
  }
};

// The same with a trace, of which the test reads what happened.
class TracedUnderPolicy : public UnderPolicy {
 protected:
  Options options() const {
    Options traced = UnderPolicy::options();
    traced.trace = file_.path();
    return traced;
  }
  TemporaryFile file_;
};

// Why the kernel's priorities cannot decide who runs here; nothing when they can.
inline std::optional<std::string> no_real_time() {
#if defined(__SANITIZE_THREAD__)
  // A thread that waits for one of them is overtaken by whatever preempts the thread that has it.
  return "the sanitizer's own locks know no priorities";
#else
  return no_fifo();
#endif
}

inline sched::Task timer(std::string name, std::chrono::nanoseconds period, int priority,
                         std::chrono::nanoseconds deadline = 0ns,
                         std::chrono::nanoseconds offset = 0ns) {
  sched::Task task;
  task.name = std::move(name);
  task.parameters.period = period;
  task.parameters.priority = priority;
  task.parameters.deadline = deadline;
  task.parameters.offset = offset;
  return task;
}

// Released by each message of the topic, and makes up for all of them.
inline sched::Task message(std::string name, std::string topic, int priority,
                           std::chrono::nanoseconds deadline = 1s) {
  sched::Task task;
  task.name = std::move(name);
  task.kind = sched::TaskKind::message;
  task.trigger = std::move(topic);
  task.parameters.priority = priority;
  task.parameters.deadline = deadline;
  task.parameters.overrun = sched::Overrun::catch_up;
  return task;
}

// Does it on a thread of its own. What does not return for so long never will, and cannot be
// cleaned up either: that ends the process.
template <typename Body>
void expect_to_return(const char* what, Body body) {
  std::packaged_task<void()> task{std::move(body)};
  auto done = task.get_future();
  std::thread thread{std::move(task)};
  if (done.wait_for(patience) != std::future_status::ready) {
    std::fprintf(stderr, "%s has not returned\n", what);
    std::_Exit(EXIT_FAILURE);
  }
  thread.join();
  done.get();
}

// Spins until each task has completed so many jobs, then stops; gives up at last, for the test to
// fail.
inline void run_until_each_completed(Executor& executor, std::uint64_t jobs) {
  executor.start();
  static_cast<void>(eventually([&] {
    for (sched::TaskIndex task = 0; task < executor.task_count(); ++task) {
      if (executor.statistics(task).completed < jobs) {
        return false;
      }
    }
    return true;
  }));
  executor.stop();
}

// One job, as its trace tells it.
struct TracedJob {
  sched::Job job;
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> end;
};

// By task and index. Periods are not in the trace.
using TracedJobs = std::map<std::pair<std::uint16_t, std::uint64_t>, TracedJob>;

inline TracedJobs jobs_of(const trace::Trace& trace) {
  TracedJobs jobs;
  for (const trace::Event& event : trace.events) {
    switch (event.type) {
      case trace::EventType::release: {
        sched::Job& job = jobs[{event.task, event.job}].job;
        job.task = event.task;
        job.index = event.job;
        job.release = os::TimePoint{std::chrono::nanoseconds{event.time}};
        job.deadline = os::TimePoint{std::chrono::nanoseconds{event.value}};
        break;
      }
      case trace::EventType::start: {
        TracedJob& traced = jobs[{event.task, event.job}];
        EXPECT_FALSE(traced.start) << "a job started twice";
        traced.start = event.time;
        traced.job.priority = static_cast<int>(event.value);
        break;
      }
      case trace::EventType::end: {
        TracedJob& traced = jobs[{event.task, event.job}];
        EXPECT_TRUE(traced.start) << "a job ended before it started";
        EXPECT_FALSE(traced.end) << "a job ended twice";
        traced.end = event.time;
        break;
      }
      default:
        break;
    }
  }
  return jobs;
}

// Names of tasks in the order in which their jobs started.
inline std::vector<std::string> starts_of(const trace::Trace& trace) {
  std::vector<std::string> names;
  for (const trace::Event& event : trace.events) {
    if (event.type == trace::EventType::start) {
      names.push_back(trace.tasks.at(event.task));
    }
  }
  return names;
}

// On each core, a job that starts while another one has not ended comes before it.
inline void expect_only_better_jobs_preempt(const trace::Trace& trace,
                                            const sched::Policy& policy) {
  const TracedJobs jobs = jobs_of(trace);
  std::map<std::uint16_t, std::vector<sched::Job>> started;
  for (const trace::Event& event : trace.events) {
    auto& stack = started[event.core];
    const auto found = jobs.find({event.task, event.job});
    if (found == jobs.end()) {
      continue;
    }
    if (event.type == trace::EventType::start) {
      if (!stack.empty()) {
        EXPECT_TRUE(sched::runs_before(policy, found->second.job, stack.back()))
            << trace.tasks.at(event.task) << "[" << event.job << "] ran over "
            << trace.tasks.at(static_cast<std::uint16_t>(stack.back().task)) << "["
            << stack.back().index << "]";
      }
      stack.push_back(found->second.job);
    } else if (event.type == trace::EventType::end) {
      std::erase_if(stack, [&](const sched::Job& job) { return job.task == event.task; });
    }
  }
}

// No two jobs of these tasks overlap.
inline void expect_exclusive(const trace::Trace& trace, const std::set<std::string>& tasks) {
  int inside = 0;
  for (const trace::Event& event : trace.events) {
    if (event.task == trace::no_task || !tasks.contains(trace.tasks.at(event.task))) {
      continue;
    }
    inside += event.type == trace::EventType::start ? 1 : 0;
    inside -= event.type == trace::EventType::end ? 1 : 0;
    ASSERT_LE(inside, 1) << "two jobs of one group at once";
  }
}

// Jobs of `inner` that started and ended while a job of `outer` was between its start and its end.
inline int count_nested(const trace::Trace& trace, const std::string& inner,
                        const std::string& outer) {
  const TracedJobs jobs = jobs_of(trace);
  int count = 0;
  for (const auto& [inner_key, a] : jobs) {
    for (const auto& [outer_key, b] : jobs) {
      if (a.end && b.end && trace.tasks.at(inner_key.first) == inner &&
          trace.tasks.at(outer_key.first) == outer && *b.start < *a.start && *a.end < *b.end) {
        ++count;
      }
    }
  }
  return count;
}

}  // namespace takt::test
