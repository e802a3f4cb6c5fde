// SPDX-License-Identifier: Apache-2.0
//
// The kernel limits real-time threads to a share of each core (sched_rt_runtime_us of
// sched_rt_period_us, usually 95 %): if they need more, even the most urgent one is stopped. The
// kernel reports this to no program; it shows in the CPU time of a core's crews.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

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

  // Begins anew, with these cores; allocates.
  void watch(const std::vector<int>& cpus);

  // What to report: once for each core, of which `used` has the CPU time of all its crews. A check
  // within a period of the kernel's after the previous one reports nothing. Allocates only what it
  // reports.
  std::optional<os::NotGranted> look(const std::vector<std::chrono::nanoseconds>& used,
                                     os::TimePoint now);

 private:
  struct Core {
    int cpu = 0;
    std::chrono::nanoseconds used{0};
    bool reported = false;
  };

  std::optional<os::TimePoint> before_;
  std::vector<Core> cores_;
};

}  // namespace takt::executor
