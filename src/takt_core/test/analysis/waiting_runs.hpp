// SPDX-License-Identifier: Apache-2.0
//
// What happens, tick by tick, where jobs wait while others run, under fixed priorities. It shares
// no code with the library, nor with the oracle of jobs that do not wait.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace takt::analysis {

struct TickSegment {
  std::int64_t shortest = 0;
  std::int64_t longest = 0;
};

struct WaitingTask {
  std::int64_t execution = 1;   // most of one job
  std::int64_t suspension = 0;  // most of one job; 0: it has no thread of its own
  std::int64_t period = 1;
  int priority = 1;
  int group = 0;  // 0: none
  std::int64_t lag = 0;
  std::int64_t suspensions = 0;  // most waits of one job; 0: any number
  // What one job does: it computes, waits, and so on; empty: it may wait anywhere.
  std::vector<TickSegment> segments = {};
};

struct WaitingJob {
  std::size_t task = 0;
  std::int64_t release = 0;
  std::int64_t noticed = 0;
  std::vector<bool> computes = {};  // what it does, tick by tick: compute, or wait
};

// Whether a job with a thread of its own goes before one without, when neither has a higher
// priority: the kernel decides that by what happened before. Asked at each tick.
using Ties = std::function<bool()>;

// The longest response of each task. Those of one task must be in the order of their releases.
std::vector<std::int64_t> observe_waiting(const std::vector<WaitingTask>& tasks,
                                          const std::vector<WaitingJob>& jobs, const Ties& ties);

}  // namespace takt::analysis
