// SPDX-License-Identifier: Apache-2.0
//
// All that can happen on one core, tick by tick, whatever varies: every release is noticed as late
// as it may be, or earlier, every job computes for every time from its best to its worst case, and
// waits wherever it likes. For every policy, preemptive or not, with exclusive groups, callbacks
// that messages release, joins, data on its way from callback to callback, overheads, and switches
// of the scenario at any time, and a core that is not always there. Situations that have been seen
// are not followed again, so the search ends by itself. It shares no code with the library.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/oracle.hpp"

namespace takt::analysis {

enum class Drop : std::uint8_t {
  nothing,
  stale,
  all_but_one
};  // releases while the job still runs

// What the ends of others' jobs publish for a task.
struct Input {
  std::vector<std::size_t> writers = {};
  std::int64_t depth =
      0;  // so many messages are kept, 4 at most; 0: all, and their data has no age
  std::int64_t max_age = 0;  // that the task allows; 0: any
};

struct ExhaustiveTask {
  OracleTask task = {};
  Drop drop = Drop::nothing;
  Input trigger = {};             // releases it; no writers: time does
  std::vector<Input> reads = {};  // what it takes when it starts
  bool anywhere = false;          // it may publish before its end
  std::int64_t messages = 1;      // that a job publishes for each input of others, all at once
  std::size_t join = 0;          // those of one number publish only together; 0: it publishes alone
  std::int64_t declared = 0;     // what the policy takes for its execution; 0: the longest
  std::int64_t suspension = 0;   // most that a job waits; above 0 it has a thread of its own
  std::int64_t suspensions = 0;  // how often it does; 0: any number of times
  std::optional<OracleTask> other = {};  // in the other scenario; group, offset and lag are not
};

// What is paid for, at most; each time it may be less.
struct Costs {
  std::int64_t dispatch = 0;
  std::int64_t preemption = 0;
  std::int64_t release = 0;
  std::int64_t publish = 0;
  std::int64_t deliver = 0;
};

// The core: a budget in each period, or after a delay `rate` of `rate_of` ticks; 0: all of them.
// And interrupts of one source.
struct CoreLimits {
  std::int64_t budget = 0;
  std::int64_t period = 0;
  std::int64_t rate = 0;
  std::int64_t rate_of = 0;
  std::int64_t delay = 0;
  std::int64_t interrupt_period = 0;
  std::int64_t interrupt_duration = 0;
  std::int64_t burst = 0;
};

struct Exhaustive {
  Rule rule = Rule::fp;
  // Timers are released a period apart or later, from any time on; otherwise exactly a period apart
  // from their offsets on.
  bool sporadic = false;
  bool until_missed = false;  // ends at the first missed deadline
  bool switches = false;      // to the other scenario and back, at any time
  Costs costs = {};
  CoreLimits core = {};
  std::vector<std::size_t> chain = {};  // tasks through which data goes
  std::size_t most_situations = 400'000;
};

struct Reached {
  std::vector<std::int64_t> responses;  // the longest of each task; 0: none of its jobs ends
  // Of each task, and input that it reads: the oldest that it takes at a start; -1: no data comes.
  std::vector<std::vector<std::int64_t>> ages;
  // The same over all inputs, with the one that releases it.
  std::vector<std::int64_t> oldest;
  // Of the chain: the longest to the first end that a datum comes to, the same from right after the
  // datum before, and the oldest at any end. -1: none.
  std::int64_t latency = -1;
  std::int64_t reaction = -1;
  std::int64_t age = -1;
  bool missed = false;
  bool complete = false;  // nothing was left out: these are the longest there are
  std::size_t situations = 0;
};

// At most 5 tasks and 4 inputs that keep data, and no time above 100 ticks.
Reached reach_all(const Exhaustive& options, const std::vector<ExhaustiveTask>& tasks);

}  // namespace takt::analysis
