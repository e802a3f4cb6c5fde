// SPDX-License-Identifier: Apache-2.0
//
// The conditions of a measurement: what was asked is set before the middleware starts (its threads
// inherit from the thread that starts it), what was granted is read back from the kernel while the
// loop's thread still runs.
#pragma once

#include <optional>
#include <vector>

#include "takt/os/not_granted.hpp"
#include "takt/os/thread.hpp"
#include "takt/os/usage.hpp"
#include "takt/probe/options.hpp"

namespace takt::probe {

/// The CPUs on which `role` of these options runs; empty: not pinned.
std::vector<int> cpus_of(const Options& options, Role role);

/// The thread settings of `role`. `both` stands for the thread that opens everything: its CPUs are
/// those of all roles.
os::ThreadSettings settings_of(const Options& options, Role role);

/// Applies the settings of `role` to the calling thread and touches its stack when the policy is a
/// real-time one.
os::SettingsNotGranted enter_role(const Options& options, Role role);

/// What the calling thread has, and what its process consists of.
struct Granted {
  os::ThreadStatus thread;
  std::chrono::nanoseconds timer_slack{0};
  std::chrono::nanoseconds rr_interval{0};
  std::vector<os::ThreadStatus> threads;
};
Granted read_back();

}  // namespace takt::probe
