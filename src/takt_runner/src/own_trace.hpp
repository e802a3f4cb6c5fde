// SPDX-License-Identifier: Apache-2.0
//
// For executors that a trace is made around: how large it is, where its writer runs, and what it
// tells of settings that were not granted.
#pragma once

#include <sched.h>

#include <cstddef>
#include <string>
#include <takt/os/thread.hpp>
#include <utility>
#include <vector>

namespace takt::runner {

constexpr std::size_t trace_capacity = std::size_t{1} << 16U;

// Where this thread may run. The thread that writes the trace must not be bound to the cores of the
// application: saturated by real-time threads, they would never let it run.
class Affinity {
 public:
  Affinity() noexcept { sched_getaffinity(0, sizeof set_, &set_); }
  void apply() const noexcept { sched_setaffinity(0, sizeof set_, &set_); }

 private:
  cpu_set_t set_{};
};

// What real-time settings a thread would not obtain, as a trace tells them.
inline void add_not_granted(std::vector<std::pair<std::string, std::string>>& attributes,
                            const os::ThreadSettings& settings) {
  const os::Thread trying{settings, [] {}};
  for (const os::NotGranted& refused_setting : trying.not_granted()) {
    attributes.emplace_back("not_granted", refused_setting.what + ": " + refused_setting.why);
  }
}

}  // namespace takt::runner
