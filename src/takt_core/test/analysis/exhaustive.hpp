// SPDX-License-Identifier: Apache-2.0
//
// All that can happen on one core, tick by tick, whatever varies: every release is noticed as late
// as it may be, or earlier, and every job computes for every time from its best to its worst case.
// For every policy, preemptive or not, with exclusive groups and callbacks that messages release.
// Situations that have been seen are not followed again, so the search ends by itself. It shares no
// code with the library.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/oracle.hpp"

namespace takt::analysis {

enum class Drop : std::uint8_t {
  nothing,
  stale,
  all_but_one
};  // releases while the job still runs

struct ExhaustiveTask {
  OracleTask task = {};
  Drop drop = Drop::nothing;
  std::vector<std::size_t> writers = {};  // whose ends release it; empty: time does
  std::int64_t declared = 0;              // what the policy takes for its execution; 0: the longest
};

struct Exhaustive {
  Rule rule = Rule::fp;
  // Timers are released a period apart or later, from any time on; otherwise exactly a period apart
  // from their offsets on.
  bool sporadic = false;
  bool until_missed = false;  // ends at the first missed deadline
  std::size_t most_situations = 400'000;
};

struct Reached {
  std::vector<std::int64_t> responses;  // the longest of each task; 0: none of its jobs ends
  bool missed = false;
  bool complete = false;  // nothing was left out: the responses are the longest there are
  std::size_t situations = 0;
};

// At most 6 tasks, and no time above 100 ticks.
Reached reach_all(const Exhaustive& options, const std::vector<ExhaustiveTask>& tasks);

}  // namespace takt::analysis
