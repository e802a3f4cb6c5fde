// SPDX-License-Identifier: Apache-2.0
//
// The releases of one callback: those of its task, or of its lanes in turn (takt/sched/turns.hpp)
// where several of its jobs may run at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core_names.hpp"
#include "takt/executor/release_handle.hpp"
#include "takt/os/clock.hpp"
#include "takt/os/saturating.hpp"
#include "takt/sched/turns.hpp"

namespace takt_rclcpp {

using std::chrono::nanoseconds;

// As executor::ReleaseHandle, for all lanes together. Copies refer to the same ones.
class Releases {
 public:
  Releases() = default;
  // At least one; of the lanes in their order.
  explicit Releases(const std::vector<executor::ReleaseHandle>& lanes) : first_{lanes.front()} {
    if (lanes.size() > 1) {
      lanes_ = std::make_shared<Lanes>(lanes);
    }
  }

  [[nodiscard]] bool notify(std::uint32_t count = 1, std::int64_t value = 0) const noexcept {
    if (!lanes_) {
      return first_.notify(count, value);
    }
    bool all = true;
    for (; count > 0; --count) {
      all = lanes_->handles[lanes_->turns.next()].notify(1, value) && all;
    }
    return all;
  }

  void lost(std::uint32_t count) const noexcept { first_.lost(count); }

  [[nodiscard]] std::uint64_t dropped() const noexcept {
    if (!lanes_) {
      return first_.dropped();
    }
    std::uint64_t sum = 0;
    for (const executor::ReleaseHandle& handle : lanes_->handles) {
      sum += handle.dropped();
    }
    return sum;
  }

  // Timers: the next release of all, and a `period` between the lanes.
  [[nodiscard]] bool release_at(os::TimePoint time, nanoseconds period) const noexcept {
    if (!lanes_) {
      return first_.release_at(time);
    }
    bool all = true;
    for (const executor::ReleaseHandle& handle : lanes_->handles) {
      all = handle.release_at(time) && all;
      time = os::add_sat(time, period);
    }
    return all;
  }

  [[nodiscard]] bool disarm() const noexcept {
    bool all = first_.disarm();
    for (std::size_t lane = 1; lanes_ && lane < lanes_->handles.size(); ++lane) {
      all = lanes_->handles[lane].disarm() && all;
    }
    return all;
  }

 private:
  struct Lanes {
    explicit Lanes(std::vector<executor::ReleaseHandle> of)
        : handles{std::move(of)}, turns{static_cast<std::uint32_t>(handles.size())} {}

    std::vector<executor::ReleaseHandle> handles;
    sched::Turns turns;
  };

  executor::ReleaseHandle first_;
  std::shared_ptr<Lanes> lanes_;  // null: there is one
};

}  // namespace takt_rclcpp
