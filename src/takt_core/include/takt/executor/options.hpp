// SPDX-License-Identifier: Apache-2.0
//
// What an executor is told before it spins: how it schedules, what each task does, and whom to call
// when something goes wrong.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/executor/input.hpp"
#include "takt/executor/job_source.hpp"
#include "takt/os/shortfall.hpp"
#include "takt/sched/job.hpp"
#include "takt/sched/policies.hpp"

namespace takt::executor {

using sched::Job;
using sched::TaskIndex;

// Called by the thread that runs the task.
using Callback = std::function<void(const Job&)>;

// An input of a task and the topic that it belongs to, which must be among the task's reads.
struct BoundInput {
  std::string topic;
  std::shared_ptr<Input> input;
};

// What a task does, apart from its description: a callback, or a front end's source of jobs.
struct Binding {
  Callback callback = {};
  std::vector<BoundInput> inputs = {};  // delivered before the callback, in this order
  std::size_t queue = 16;               // message tasks: arrivals that may wait
  // Timers: let the kernel's SCHED_DEADLINE schedule the task, outside of the policy and not bound
  // to a core. Needs an execution time (budget or expected_execution) and no group.
  bool kernel_deadline = false;
  std::shared_ptr<JobSource> source = {};
  // Timers: when the first job is released, in place of start + offset; the end of time: not before
  // ReleaseHandle::release_at().
  std::optional<sched::TimePoint> first_release = {};
};

struct Miss {
  TaskIndex task = 0;
  std::uint64_t job = 0;
  sched::TimePoint release;
  sched::TimePoint deadline;
  sched::TimePoint ended;  // running: now
  bool running = false;    // the job has not ended: it is told while it goes on
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
  bool running = false;              // as in Miss
};

struct AgeViolation {
  TaskIndex task = 0;
  std::uint64_t job = 0;
  std::string_view topic;
  std::chrono::nanoseconds max_age{0};
  std::chrono::nanoseconds age{0};  // the maximum: there was no data yet
};

// A job that missed its deadline because another one of its core slept: it would have ended in time
// had that one only computed. Time that a hypervisor stole from a job counts as its sleep.
struct HoldUp {
  TaskIndex task = 0;
  std::uint64_t job = 0;
  TaskIndex by = 0;                   // whose job slept, and has ended
  std::chrono::nanoseconds slept{0};  // at least: milliseconds of it may be missing
};

// Called on the thread of the task, at its priority, right after (age: before) the callback; they
// belong to the task's execution time and must neither block nor throw. A miss or an overrun of a
// job that still runs is told by another thread, above it; the job goes on meanwhile, and is not
// told again when it ends. Nobody is above a job of priority 98 and one under SCHED_DEADLINE: those
// are told at their end. Whoever sets these two handlers pays with a wake-up where no other is due
// before the deadline.
struct Handlers {
  std::function<void(const Miss&)> deadline_miss = {};
  std::function<void(const Skip&)> skip = {};
  std::function<void(const BudgetOverrun&)> budget_overrun = {};
  std::function<void(const AgeViolation&)> age_violation = {};
  // After deadline_miss. Not of tasks that have a thread of their own, nor where the kernel does
  // not tell how long a thread waited for its core (os::run_delay).
  std::function<void(const HoldUp&)> held_up = {};
};

// What an exception does that leaves a callback.
enum class Exceptions : std::uint8_t {
  end_process,  // std::terminate
  leave_spin,   // the executor stops, and spin() and stop() throw it; later ones are lost
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
  // Keep page faults out of the loop: all of the process's memory stays in RAM. Only with
  // real_time; a shortfall where it is not allowed.
  bool lock_memory = true;
  // spin() ends in order at SIGINT and SIGTERM, unless the program handles them itself.
  bool stop_on_signals = true;
  Exceptions exceptions = Exceptions::end_process;
  // Bytes of each thread that runs callbacks, and how many of them are touched before the start.
  std::size_t stack = std::size_t{2} * 1024 * 1024;
  std::size_t prefaulted_stack = std::size_t{64} * 1024;
  // Empty: no trace. From the second start on a number is put behind the name.
  std::filesystem::path trace = {};
  std::size_t trace_capacity = 16384;  // events of a thread that wait to be written
  // Whether the trace tells the CPU time of every job and of the executor between two of them, and
  // how long each waited for its core: two microseconds more for each. Tasks with a budget are
  // measured in any case.
  bool trace_cpu_time = false;
  std::vector<std::pair<std::string, std::string>> trace_attributes = {};  // more about the trace
  Handlers handlers = {};
  // Told what real-time settings could not be obtained: at the start, and while it spins where the
  // kernel refuses a reservation or a thread of a task added, and once when its real-time
  // throttling takes a core from the tasks. Called from one thread at a time, which runs no task;
  // the default writes to standard error.
  std::function<void(const os::Shortfalls&)> on_shortfalls = {};
};

}  // namespace takt::executor
