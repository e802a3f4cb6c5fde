// SPDX-License-Identifier: Apache-2.0
//
// What an executor is told before it spins: how it schedules, what each task does, and whom to call
// when something goes wrong.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "takt/executor/input.hpp"
#include "takt/os/shortfall.hpp"
#include "takt/sched/job.hpp"
#include "takt/sched/policies.hpp"

namespace takt::executor {

using sched::Job;
using sched::TaskIndex;

// Called by the thread that runs the task. An exception that leaves it ends the process.
using Callback = std::function<void(const Job&)>;

// An input of a task and the topic that it belongs to, which must be among the task's reads.
struct BoundInput {
  std::string topic;
  std::shared_ptr<Input> input;
};

// What a task does, apart from its description.
struct Binding {
  Callback callback;
  std::vector<BoundInput> inputs = {};  // delivered before the callback, in this order
  std::size_t queue = 16;               // message tasks: arrivals that may wait
  // Timers: let the kernel's SCHED_DEADLINE schedule the task, outside of the policy and not bound
  // to a core. Needs an execution time (budget or expected_execution) and no group.
  bool kernel_deadline = false;
};

struct Miss {
  TaskIndex task = 0;
  std::uint64_t job = 0;
  sched::TimePoint release;
  sched::TimePoint deadline;
  sched::TimePoint ended;
  bool running = false;  // it has not ended yet: `ended` is now
};

struct Skip {
  TaskIndex task = 0;
  std::uint64_t first = 0;  // index of the first release that was dropped
  std::uint64_t count = 0;
};

struct BudgetOverrun {
  TaskIndex task = 0;
  std::uint64_t job = 0;
  std::chrono::nanoseconds budget{0};
  std::chrono::nanoseconds used{0};  // CPU time
  bool running = false;              // the job has not ended yet
};

struct AgeViolation {
  TaskIndex task = 0;
  std::uint64_t job = 0;
  std::string_view topic;
  std::chrono::nanoseconds max_age{0};
  std::chrono::nanoseconds age{0};  // the maximum: there was no data yet
};

// Called on the thread of the task, at its priority, right after (age: before) the callback; they
// belong to the task's execution time and must neither block nor throw.
struct Handlers {
  std::function<void(const Miss&)> deadline_miss = {};
  std::function<void(const Skip&)> skip = {};
  std::function<void(const BudgetOverrun&)> budget_overrun = {};
  std::function<void(const AgeViolation&)> age_violation = {};
};

struct Options {
  // Of scenarios that name no policy, and of executors without a strategy.
  sched::PolicyPtr policy = sched::fixed_priority();
  std::vector<int> cpus = {};                     // empty: the first one that this process may use
  std::vector<std::string> external_topics = {};  // written by others than the executor's tasks
  // Dynamic policies: jobs run at this real-time priority and those above it, one level higher for
  // each job that they preempt.
  int base_priority = 40;
  // SCHED_FIFO, and no deep idle states while it spins (os::NoDeepIdle). False: SCHED_OTHER,
  // without a word about it.
  bool real_time = true;
  // In real time: keeps page faults out of the loop (os::lock_memory). All that the process maps
  // stays in memory then, each stack as a whole.
  bool lock_memory = true;
  // Bytes of each thread that runs callbacks, and how many of them are touched before the start.
  std::size_t stack = std::size_t{2} * 1024 * 1024;
  std::size_t prefaulted_stack = std::size_t{64} * 1024;
  std::size_t max_tasks = 1024;        // tasks that can be added in all, before and while it spins
  std::filesystem::path trace = {};    // empty: no trace
  std::size_t trace_capacity = 16384;  // events of a thread that wait to be written
  // Whether the trace tells the CPU time of every job and of the executor between two of them, and
  // how long each waited for its core: two microseconds more for each. Tasks with a budget are
  // measured in any case.
  bool trace_cpu_time = false;
  std::vector<std::pair<std::string, std::string>> trace_attributes = {};  // more about the trace
  Handlers handlers = {};
  // Told once, at the start, what real-time settings could not be obtained; the default writes to
  // standard error.
  std::function<void(const os::Shortfalls&)> on_shortfalls = {};
};

}  // namespace takt::executor
