// SPDX-License-Identifier: Apache-2.0
//
// The kernel leaves real-time threads a share of each core only (sched_rt_runtime_us of
// sched_rt_period_us, 95 % as a rule): when they want more, the most urgent one is stopped, too.
// Nobody is told by the kernel; it shows in the CPU time of a core's crews.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "takt/os/clock.hpp"
#include "takt/os/shortfall.hpp"

namespace takt::executor {

class Throttling {
 public:
  // False where the kernel has no limit, or does not say.
  static bool possible() noexcept;

  // The CPU time that the crews of a core used since the last look, as a share; at least that of
  // the limit, less one percent: the rest was taken from them.
  [[nodiscard]] static bool reached(std::chrono::nanoseconds used, std::chrono::nanoseconds within,
                                    double limit) noexcept;

  // What to tell: the first time for each core. Looks that come within a period of the kernel's
  // tell nothing.
  std::optional<os::Shortfall> look(const std::map<int, std::chrono::nanoseconds>& cpu_times,
                                    os::TimePoint now);
  void reset() noexcept { *this = {}; }

 private:
  std::optional<os::TimePoint> before_;
  std::map<int, std::chrono::nanoseconds> cpu_times_;
  std::map<int, bool> told_;
};

}  // namespace takt::executor
