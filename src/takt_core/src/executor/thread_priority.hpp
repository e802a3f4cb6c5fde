// SPDX-License-Identifier: Apache-2.0
//
// The real-time priority that a thread has for a while, as the holder of a lock.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include "takt/os/thread.hpp"

namespace takt::executor {

// The kernel has one more than jobs may have.
inline constexpr int above_all_jobs = os::max_priority + 1;

// Of a thread; 0: it has none.
inline int real_time_priority(pid_t thread) noexcept {
  sched_param parameters{};
  const int policy = sched_getscheduler(thread);
  const bool fifo = policy >= 0 && (policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO;
  return fifo && sched_getparam(thread, &parameters) == 0 ? parameters.sched_priority : 0;
}

// Where the process may not have that much, the most that jobs have.
inline void set_real_time_priority(pid_t thread, int priority) noexcept {
  sched_param parameters{.sched_priority = priority};
  if (sched_setparam(thread, &parameters) != 0 && priority > os::max_priority) {
    parameters.sched_priority = os::max_priority;
    sched_setparam(thread, &parameters);
  }
}

}  // namespace takt::executor
