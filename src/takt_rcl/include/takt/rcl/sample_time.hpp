// SPDX-License-Identifier: Apache-2.0
//
// When the data that the calling thread works on was sampled: the release of the timer job at the
// head of the chain. A message that is published carries it on, so that a reader three callbacks
// later still knows the age of what it reads.
#pragma once

#include <optional>
#include <takt/os/clock.hpp>
#include <takt/rcl/message_info.hpp>
#include <takt/rcl/visibility.hpp>

namespace takt::detail {

// Nothing outside of callbacks that an executor runs.
[[nodiscard]] TAKT_RCL_PUBLIC std::optional<os::TimePoint> current_sample_time() noexcept;

// Of a message from the middleware that is taken now: its publication; its arrival where the
// middleware does not stamp publications, now where it stamps nothing. Its stamps are of
// CLOCK_REALTIME, and of another host perhaps: the result is neither later than now nor before the
// zero of CLOCK_MONOTONIC.
[[nodiscard]] TAKT_RCL_PUBLIC os::TimePoint sample_time_of(const MessageInfo& info) noexcept;

// While it lives, what the thread publishes was sampled at `time`. Nests.
class TAKT_RCL_PUBLIC SampleTimeScope {
 public:
  explicit SampleTimeScope(os::TimePoint time) noexcept;
  ~SampleTimeScope();
  SampleTimeScope(const SampleTimeScope&) = delete;
  SampleTimeScope& operator=(const SampleTimeScope&) = delete;
  SampleTimeScope(SampleTimeScope&&) = delete;
  SampleTimeScope& operator=(SampleTimeScope&&) = delete;

 private:
  std::optional<os::TimePoint> outer_;
};

}  // namespace takt::detail
