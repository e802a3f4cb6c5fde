// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the kernel reserves for the thread of a process under SCHED_DEADLINE (sched(7)): in each
/// period it gets `runtime` of CPU time within `deadline` from the period's begin, and no more.
#pragma once

#include <chrono>

#include "takt/visibility.hpp"

namespace takt::application {

/// The parameters of SCHED_DEADLINE: 0 < runtime <= deadline <= period.
struct TAKT_CORE_PUBLIC Reservation {
  std::chrono::nanoseconds runtime{0};   ///< CPU time in each period, above 0.
  std::chrono::nanoseconds deadline{0};  ///< Within which it is provided.
  std::chrono::nanoseconds period{0};    ///< After which there is a new runtime.
};

}  // namespace takt::application
