// SPDX-License-Identifier: Apache-2.0
//
// When which job had which core, derived from the events of a trace.
#pragma once

#include <cstdint>
#include <vector>

#include "takt/trace/event.hpp"

namespace takt::trace {

// A stretch of time in which one job had the core.
struct Slice {
  std::uint16_t task = no_task;
  std::uint16_t core = no_core;
  std::uint64_t job = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool first = false;  // begins with the start of the job, not with a resumption
  bool last = false;   // ends with the end of the job, not with a preemption
};

struct Timeline {
  std::vector<Slice> slices;  // by begin
  // Jobs that ended while a job which had started later on their core was still running. With
  // priorities that happens only when a callback sleeps; without them (no privilege) the threads
  // share the core by time slices, which no event shows. Slices of such jobs are a guess.
  std::uint64_t not_nested = 0;
};

// Preemption by the kernel is not seen by the threads themselves. On one core, a job that starts
// while another one runs has preempted it, and the other one resumes when it ends. Preempt and
// resume events, which the simulator writes, are taken as they are. The last stretch of a job whose
// end is not in the trace (still running then, or lost) is left out.
Timeline timeline(const std::vector<Event>& events);

}  // namespace takt::trace
