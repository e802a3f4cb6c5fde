// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernel counters: page faults, context switches and CPU time. The difference of two snapshots
/// shows the cost of a loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "takt/visibility.hpp"

namespace takt::os {

/// A snapshot of the counters of getrusage(2).
struct ResourceUsage {
  std::int64_t minor_faults = 0;          ///< Page faults without input or output.
  std::int64_t major_faults = 0;          ///< Page faults that waited for a file.
  std::int64_t voluntary_switches = 0;    ///< The thread blocked.
  std::int64_t involuntary_switches = 0;  ///< The thread was preempted.
  std::chrono::nanoseconds cpu_time{0};   ///< User and system time.

  bool operator==(const ResourceUsage&) const = default;
};

/// The difference of two snapshots of the same subject, counter by counter.
TAKT_CORE_PUBLIC ResourceUsage operator-(const ResourceUsage& after,
                                         const ResourceUsage& before) noexcept;

/// Whose counters to read.
enum class UsageOf : std::uint8_t {
  thread,   ///< the calling thread
  process,  ///< all threads of the process
};

/// The counters of the calling thread or of the whole process since its start. One system call.
TAKT_CORE_PUBLIC ResourceUsage resource_usage(UsageOf subject) noexcept;

/// How long the calling thread has been runnable without running since its start, because another
/// thread had its core or the kernel throttled it. The first call of a thread opens a file; each
/// call reads a line.
/// @return nothing if the kernel does not record it (CONFIG_SCHED_INFO).
TAKT_CORE_PUBLIC std::optional<std::chrono::nanoseconds> run_delay() noexcept;

}  // namespace takt::os
