// SPDX-License-Identifier: Apache-2.0
//
// The two ways in which a probe cannot go on. Both carry the three answers that the result document
// and the terminal show: what, why, and what to do.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "takt/os/not_granted.hpp"

namespace takt::probe {

/// The measurement cannot go on; the probe ends with exit code 1.
class Failure : public std::runtime_error {
 public:
  explicit Failure(os::NotGranted reason)
      : std::runtime_error{reason.what + ": " + reason.why + "; " + reason.fix},
        reason_{std::move(reason)} {}

  const os::NotGranted& reason() const noexcept { return reason_; }

 private:
  os::NotGranted reason_;
};

/// What to do where a process or a thread could not be started (EAGAIN).
inline constexpr const char* more_processes =
    "raise the limit on processes and threads (ulimit -u; pids.max of the container), or close "
    "other programs";

/// The command line makes no sense; the probe ends with exit code 2.
class UsageError : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace takt::probe
