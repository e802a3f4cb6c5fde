// SPDX-License-Identifier: Apache-2.0
//
// What one thread writes its events with. Without a ring, recording is off and costs one branch.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>

#include "takt/os/clock.hpp"
#include "takt/trace/event.hpp"
#include "takt/trace/ring.hpp"

namespace takt::trace {

class Recorder {
 public:
  Recorder() noexcept = default;
  explicit Recorder(Ring* ring) noexcept : ring_(ring) {}

  [[nodiscard]] bool on() const noexcept { return ring_ != nullptr; }

  // Records an event of the calling thread, which must be the only one that uses this recorder.
  void record(EventType type, os::TimePoint time, std::uint32_t task, std::uint64_t job,
              std::int64_t value = 0, std::uint16_t topic = no_topic,
              std::uint8_t detail = 0) noexcept {
    if (ring_ == nullptr) [[likely]] {
      return;
    }
    ring_->push(
        Event{.time = time.time_since_epoch().count(),
              .job = job,
              .value = value,
              .task = static_cast<std::uint16_t>(task),
              .topic = topic,
              .core = static_cast<std::uint16_t>(sched_getcpu()),  // the truth, when unpinned
              .type = type,
              .detail = detail});
  }

 private:
  Ring* ring_ = nullptr;
};

}  // namespace takt::trace
