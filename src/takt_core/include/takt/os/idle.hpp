// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keeps the CPUs out of deep idle states. Leaving such a state takes tens to hundreds of
/// microseconds, which delays every wake-up.
#pragma once

#include <optional>

#include "takt/os/not_granted.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

/// Keeps all CPUs of the machine out of idle states with an exit latency, as long as it exists
/// (/dev/cpu_dma_latency held open with 0 us, as cyclictest does). Costs power. Any number of
/// instances may exist at a time, in one or several processes.
class TAKT_CORE_PUBLIC NoDeepIdle {
 public:
  /// Opens the device. Never throws for a missing privilege: see refused_setting().
  NoDeepIdle();

  /// Allows deep idle states again, unless another instance exists.
  ~NoDeepIdle();
  NoDeepIdle(const NoDeepIdle&) = delete;
  NoDeepIdle& operator=(const NoDeepIdle&) = delete;
  NoDeepIdle(NoDeepIdle&&) = delete;
  NoDeepIdle& operator=(NoDeepIdle&&) = delete;

  /// Whether deep idle states are disabled by this instance.
  [[nodiscard]] bool held() const noexcept { return file_ >= 0; }

  /// Why held() is false; nothing if it is true.
  [[nodiscard]] const std::optional<NotGranted>& refused_setting() const noexcept {
    return refused_setting_;
  }

 private:
  int file_;
  std::optional<NotGranted> refused_setting_;
};

}  // namespace takt::os
