// SPDX-License-Identifier: Apache-2.0
/// @file
/// The sample time of the data that the calling thread works on: the release of the timer job at
/// the head of the chain. A published message carries it on, so that a reader three callbacks later
/// still knows the age of its data.
#pragma once

#include <optional>
#include <takt/os/clock.hpp>
#include <takt/rcl/message_info.hpp>
#include <takt/rcl/visibility.hpp>

namespace takt::detail {

/// The sample time of the present callback; nothing outside of callbacks that an executor runs.
[[nodiscard]] TAKT_RCL_PUBLIC std::optional<os::TimePoint> current_sample_time() noexcept;

/// The sample time of a message that is taken from the middleware now: its publication; its arrival
/// if the middleware does not stamp publications; now if it stamps nothing. The stamps are readings
/// of CLOCK_REALTIME, perhaps of another host: the result is limited to the range from the zero of
/// CLOCK_MONOTONIC to now.
[[nodiscard]] TAKT_RCL_PUBLIC os::TimePoint sample_time_of(const MessageInfo& info) noexcept;

/// Sets, as long as it exists, the sample time of messages that the thread publishes. Scopes nest.
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
