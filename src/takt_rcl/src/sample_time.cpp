// SPDX-License-Identifier: Apache-2.0
#include <takt/rcl/sample_time.hpp>
#include <utility>

namespace takt::detail {
namespace {

thread_local std::optional<os::TimePoint> sample_time;

}  // namespace

std::optional<os::TimePoint> current_sample_time() noexcept {
  return sample_time;
}

SampleTimeScope::SampleTimeScope(os::TimePoint time) noexcept
    : outer_{std::exchange(sample_time, time)} {}

SampleTimeScope::~SampleTimeScope() {
  sample_time = outer_;
}

}  // namespace takt::detail
