// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <takt/executor/monitor.hpp>
#include <takt/os/saturating.hpp>
#include <takt/rcl/sample_time.hpp>
#include <utility>

namespace takt::detail {
namespace {

using std::chrono::nanoseconds;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of each thread
thread_local std::optional<os::TimePoint> sample_time;

// Both clocks, read so closely together that the thread was not interrupted in between.
struct Clocks {
  MessageInfo::Stamp real;
  os::TimePoint monotonic;
};

Clocks read_clocks() noexcept {
  constexpr nanoseconds close{1000};
  constexpr int attempts = 4;  // where reading a clock takes long the closest has to do
  Clocks clocks{};
  auto closest = nanoseconds::max();
  for (int attempt = 0; attempt < attempts && closest > close; ++attempt) {
    const os::TimePoint before = os::now();
    const auto real = std::chrono::time_point_cast<nanoseconds>(std::chrono::system_clock::now());
    const nanoseconds between = os::now() - before;
    if (between >= closest) {
      continue;
    }
    closest = between;
    clocks = {.real = real, .monotonic = before + between / 2};
  }
  return clocks;
}

}  // namespace

os::TimePoint sample_time_of(const MessageInfo& info) noexcept {
  constexpr MessageInfo::Stamp none{};
  const auto stamp = info.source_timestamp > none ? info.source_timestamp : info.received_timestamp;
  const Clocks now = read_clocks();
  if (stamp <= none) {
    return now.monotonic;
  }
  return std::clamp(os::sub_sat(now.monotonic, now.real - stamp), os::TimePoint{}, now.monotonic);
}

std::optional<os::TimePoint> current_sample_time() noexcept {
  return sample_time;
}

SampleTimeScope::SampleTimeScope(os::TimePoint time) noexcept
    : outer_{std::exchange(sample_time, time)} {
  executor::use_trigger(time);
}

SampleTimeScope::~SampleTimeScope() {
  sample_time = outer_;
}

}  // namespace takt::detail
