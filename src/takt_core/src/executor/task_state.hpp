// SPDX-License-Identifier: Apache-2.0
//
// One task while the executor lives: what it does, its counters, and where others announce to it.
// Its address never changes, and when the task has gone another one takes its place under another
// generation: whoever still holds a handle of the former reaches nobody.
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

using sched::Target;
using sched::Topic;

// A number that one thread may read while another one writes it. The kernel, which is told of each
// new priority, orders the two.
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
  // Takes the place of another task, which has gone.
  void reset(TaskIndex task_index, const sched::Task& task, Binding task_binding);
  // Forgets what was released: the executor has stopped, and nothing of its jobs is left.
  void rewind();

  std::string name;
  bool alone = false;  // has a crew of its own
  bool armed = false;  // its source is, and nobody disarms it yet; guarded by the registry's mutex
  std::uint16_t trace_id = 0;
  Binding binding;
  std::vector<Topic*> input_topics;  // of binding.inputs
  std::vector<std::int64_t> given;   // sample times of what they gave, or no_sample
  std::vector<Topic*> writes;        // in whatever scenario
  Topic* trigger = nullptr;          // of message tasks
  std::atomic<Crew*> crew{nullptr};  // null: not started yet
  TaskCounters counters;

  // Of its job, guarded by the crew's mutex.
  os::TimePoint alarm = os::TimePoint::max();  // when to look whether it still runs
  RelaxedInt run_priority;
  bool miss_told = false;
  bool budget_told = false;
  // Threads that call a handler about a job that may have ended. Until they return it has not left.
  std::uint32_t tellers = 0;

  // Whoever announces looks at these; from any thread.
  std::atomic<std::uint32_t> generation{0};
  std::atomic<std::int64_t> wake_key{0};  // preemption level: who has to be woken for it
  std::atomic<std::uint32_t> waiting{0};  // arrivals that have not become jobs ...
  std::atomic<std::uint32_t> queue{0};    // ... of which so many are kept
};

}  // namespace takt::executor
