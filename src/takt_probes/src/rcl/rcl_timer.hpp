// SPDX-License-Identifier: Apache-2.0
//
// The timer of rcl as every ROS 2 executor has it: on the steady clock, in a wait set, noticed by
// rcl_wait. A one-shot timer is a periodic one that is cancelled when it has fired and reset to
// start again, which is how ROS 2 knows them.
#pragma once

#include <rcl/rcl.h>

#include "takt/os/stop.hpp"
#include "takt/probe/options.hpp"
#include "takt/probe/timer.hpp"

namespace takt::probe {

class RclTimer : public Timer {
 public:
  /// Throws Failure.
  RclTimer(const Options& options, os::StopFlag& stop);
  ~RclTimer() override;
  RclTimer(const RclTimer&) = delete;
  RclTimer& operator=(const RclTimer&) = delete;

  std::optional<os::TimePoint> start(std::chrono::nanoseconds interval) noexcept override;
  std::optional<Expiry> wait(os::TimePoint deadline) noexcept override;
  void stop() noexcept override;
  std::optional<os::NotGranted> problem() const override { return failure_; }

 private:
  void create(std::chrono::nanoseconds interval);
  void destroy() noexcept;
  bool done(rcl_ret_t result, const char* call) noexcept;
  std::optional<Expiry> call() noexcept;

  const Options& options_;
  os::StopFlag& stop_;
  bool oneshot_;
  std::chrono::nanoseconds interval_;
  std::optional<std::int64_t> expected_;  // of the last call of a cyclic timer
  std::optional<os::NotGranted> failure_;
  rcl_init_options_t init_options_ = rcl_get_zero_initialized_init_options();
  rcl_context_t context_ = rcl_get_zero_initialized_context();
  rcl_clock_t clock_{};
  rcl_timer_t timer_ = rcl_get_zero_initialized_timer();
  rcl_wait_set_t set_ = rcl_get_zero_initialized_wait_set();
};

}  // namespace takt::probe
