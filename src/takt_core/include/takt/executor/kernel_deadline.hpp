// SPDX-License-Identifier: Apache-2.0
/// @file
/// SCHED_DEADLINE: the kernel's own EDF with reservations. In each `period` a thread gets `runtime`
/// of CPU time, by `deadline` after its wake-up; if the kernel has no room for it, it refuses.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "takt/os/not_granted.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

/// The parameters of SCHED_DEADLINE (sched_setattr(2)): runtime <= deadline <= period.
struct Reservation {
  std::chrono::nanoseconds runtime;   ///< CPU time in each period.
  std::chrono::nanoseconds deadline;  ///< Relative to the wake-up.
  std::chrono::nanoseconds period;    ///< Distance of two wake-ups.
};

/// Puts a thread under SCHED_DEADLINE. Threads that it starts do not inherit it (reset on fork).
/// @param reservation what to request.
/// @param what names the task in the message.
/// @param thread its kernel thread id; 0: the calling thread.
/// @return nothing if the kernel admitted it; otherwise the reason, and the thread is unchanged.
TAKT_CORE_PUBLIC std::optional<os::NotGranted> reserve(const Reservation& reservation,
                                                       const std::string& what, pid_t thread = 0);

}  // namespace takt::executor
