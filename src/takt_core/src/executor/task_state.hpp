// SPDX-License-Identifier: Apache-2.0
//
// One task as long as the executor exists: its work, its counters, and where other threads announce
// messages to it. Its address never changes; after the task was removed, another one may reuse it
// under a new generation, so that handles of the former task have no effect.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "takt/executor/counters.hpp"
#include "takt/executor/options.hpp"
#include "takt/sched/core_state.hpp"

namespace takt::executor {

// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor): final, and nobody's base
class Crew;
struct Watched;

using sched::Target;
using sched::Topic;

// A number that one thread may read while another one writes it. The system call that sets each new
// priority orders the two.
class RelaxedInt {
 public:
  RelaxedInt& operator=(int value) noexcept {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  // NOLINTNEXTLINE(*-explicit-constructor,*-explicit-conversions): it is a number
  operator int() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> value_{0};
};

struct TaskState : sched::CoreTask {
  // Replaces a task that was removed.
  void reset(TaskIndex task_index, const sched::Task& task, Binding task_binding);
  // Forgets all releases, after the executor has stopped and no job is left.
  void rewind();

  std::string name;
  bool own_crew = false;  // has a crew of its own
  // Its source is armed and not being disarmed; guarded by the registry's mutex
  bool armed = false;
  std::uint16_t trace_id = 0;
  Binding binding;
  std::vector<Topic*> input_topics;  // of binding.inputs
  std::vector<std::int64_t> given;   // sample times of the data of the inputs, or no_sample
  std::vector<std::int64_t> keys;    // of the messages with it, or no_sample
  std::vector<Topic*> writes;        // in any scenario
  Topic* trigger = nullptr;          // of message tasks
  std::vector<std::string> locks;    // that its jobs take, by name
  std::atomic<Crew*> crew{nullptr};  // null: not started yet
  TaskCounters counters;
  Watched* watched = nullptr;  // null: it has no limits
  // What of its counters was judged; by the job's thread.
  std::uint64_t skips_watched = 0;
  std::uint64_t losses_watched = 0;

  // The state of its job, guarded by the crew's mutex.
  os::TimePoint alarm = os::TimePoint::max();  // when to check whether it is still running
  RelaxedInt run_priority;
  bool miss_reported = false;
  bool budget_reported = false;
  // Threads that call a handler about a job that may have ended. The task has not left before they
  // return.
  std::uint32_t reporters = 0;

  // Read by announcing threads; from any thread.
  std::atomic<std::uint32_t> generation{0};
  std::atomic<std::int64_t> wake_key{0};  // preemption level that decides whether to wake a thread
  std::atomic<std::uint32_t> waiting{0};  // arrivals that have not become jobs
  std::atomic<std::uint32_t> queue{0};    // the most arrivals that may wait
};

}  // namespace takt::executor
