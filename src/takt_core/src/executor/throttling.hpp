// SPDX-License-Identifier: Apache-2.0
//
// The kernel limits real-time threads to a share of each core (sched_rt_runtime_us of
// sched_rt_period_us, usually 95 %): if they need more, even the most urgent one is stopped. The
// kernel reports this to no program; it shows in the CPU time of a core's crews.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "takt/os/clock.hpp"
#include "takt/os/not_granted.hpp"

namespace takt::executor {

class Throttling {
 public:
  // False if the kernel has no limit, or does not report it.
  static bool possible() noexcept;

  // Whether the CPU time that the crews of a core used since the last check reaches the limit, less
  // one percent: then the rest was taken from them.
  [[nodiscard]] static bool reached(std::chrono::nanoseconds used, std::chrono::nanoseconds within,
                                    double limit) noexcept;

  // What to report: once for each core. A check within a period of the kernel's after the previous
  // one reports nothing.
  std::optional<os::NotGranted> look(const std::map<int, std::chrono::nanoseconds>& cpu_times,
                                     os::TimePoint now);
  void reset() noexcept { *this = {}; }

 private:
  std::optional<os::TimePoint> before_;
  std::map<int, std::chrono::nanoseconds> cpu_times_;
  std::map<int, bool> reported_;
};

}  // namespace takt::executor
