// SPDX-License-Identifier: Apache-2.0
//
// What the kernel counted: page faults, context switches and CPU time. Two snapshots and their
// difference tell what a loop cost.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "takt/visibility.hpp"

namespace takt::os {

struct ResourceUsage {
  std::int64_t minor_faults = 0;  // page faults without input or output
  std::int64_t major_faults = 0;  // page faults that had to wait for a file
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
  std::chrono::nanoseconds cpu_time{0};  // user and system

  bool operator==(const ResourceUsage&) const = default;
};

TAKT_CORE_PUBLIC ResourceUsage operator-(const ResourceUsage& after,
                                         const ResourceUsage& before) noexcept;

enum class UsageOf : std::uint8_t { thread, process };

// The counts of the calling thread, or of all threads of the process, since their start.
TAKT_CORE_PUBLIC ResourceUsage resource_usage(UsageOf subject) noexcept;

// For how long the calling thread could have run and did not, because something else had its core
// (or the kernel held it back), since its start; nothing where the kernel does not tell
// (CONFIG_SCHED_INFO). Opens a file at the first call of a thread, reads a line at each.
TAKT_CORE_PUBLIC std::optional<std::chrono::nanoseconds> run_delay() noexcept;

}  // namespace takt::os
