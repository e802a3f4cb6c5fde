// SPDX-License-Identifier: Apache-2.0
//
// SCHED_DEADLINE: the kernel's own EDF with a reservation. A thread gets `runtime` of CPU time in
// each `period`, by `deadline` after its wake-up, or the kernel says that it has no room.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "takt/os/shortfall.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

struct Reservation {
  std::chrono::nanoseconds runtime;
  std::chrono::nanoseconds deadline;
  std::chrono::nanoseconds period;
};

// Puts the calling thread under SCHED_DEADLINE; threads that it starts are not (reset on fork).
// Nothing when it was admitted; otherwise why not, and the thread stays as it is. `what` names the
// task in the message.
TAKT_CORE_PUBLIC std::optional<os::Shortfall> reserve(const Reservation& reservation,
                                                      const std::string& what);

}  // namespace takt::executor
