// SPDX-License-Identifier: Apache-2.0
//
// Keeping the CPUs awake between two wake-ups: leaving a deep idle state takes tens to hundreds of
// microseconds, which whoever is woken would be late.
#pragma once

#include <optional>

#include "takt/os/shortfall.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

// Holds all CPUs of the machine out of idle states that take time to leave, as long as it lives
// (/dev/cpu_dma_latency open with 0 us, as cyclictest does). It costs power. Several may live at a
// time, in one process or in many.
class TAKT_CORE_PUBLIC NoDeepIdle {
 public:
  NoDeepIdle();
  ~NoDeepIdle();
  NoDeepIdle(const NoDeepIdle&) = delete;
  NoDeepIdle& operator=(const NoDeepIdle&) = delete;
  NoDeepIdle(NoDeepIdle&&) = delete;
  NoDeepIdle& operator=(NoDeepIdle&&) = delete;

  [[nodiscard]] bool held() const noexcept { return file_ >= 0; }
  // Why it is not held.
  [[nodiscard]] const std::optional<Shortfall>& shortfall() const noexcept { return shortfall_; }

 private:
  int file_;
  std::optional<Shortfall> shortfall_;
};

}  // namespace takt::os
