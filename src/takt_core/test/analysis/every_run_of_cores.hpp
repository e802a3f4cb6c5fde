// SPDX-License-Identifier: Apache-2.0
//
// All that can happen to chains over several cores, tick by tick: timers are released at any times
// that are far enough apart, or first at any time and then once a period, and each job computes for
// every time from its best to its worst case. Situations that have been seen are not followed
// again. It shares no code with the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/oracle.hpp"

namespace takt::analysis {

struct CoreTask {
  static constexpr std::size_t timer = 99;

  std::size_t core = 0;
  std::size_t before = timer;  // whose messages release it
  std::int64_t period = 1;     // of a timer
  std::int64_t best = 1;
  std::int64_t worst = 1;
  std::int64_t deadline = 1;      // relative to its own release, for the policies
  int priority = 1;               // distinct on a core
  bool anywhere = false;          // it may publish at any time between start and end
  bool regular = false;           // a timer: once in each period
  std::int64_t latest_first = 0;  // of a regular one: its first release comes until then
};

struct CoresReached {
  std::vector<std::int64_t> latencies;  // by task: from the timer's release to the end, the longest
  std::vector<std::int64_t> responses;  // the same from the release of the task
  // By task that a message releases: from the timer's release to its own, the shortest.
  std::vector<std::int64_t> offsets;
  bool complete = false;  // nothing was left out
};

// At most 8 tasks, each behind the one that releases it.
CoresReached reach_all_on_cores(Rule rule, const std::vector<CoreTask>& tasks,
                                std::size_t most_situations);

}  // namespace takt::analysis
