// SPDX-License-Identifier: Apache-2.0
/// @file
/// Records the events of one thread. Without a ring, recording is off and costs one branch.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>

#include "takt/os/clock.hpp"
#include "takt/trace/event.hpp"
#include "takt/trace/ring.hpp"

namespace takt::trace {

/// The recording end of a ring. To be used by one thread only; real-time safe.
class Recorder {
 public:
  Recorder() noexcept = default;

  /// Records into `ring`, which must outlive the recorder; null: recording is off.
  explicit Recorder(Ring* ring) noexcept : ring_(ring) {}

  /// Whether events are recorded. Lets callers avoid the cost of computing them.
  [[nodiscard]] bool on() const noexcept { return ring_ != nullptr; }

  /// Records an event of the calling thread, with the CPU that the thread runs on; drops and counts
  /// it if the ring is full. Wait-free.
  /// @param type kind of the event.
  /// @param time when it happened.
  /// @param task index of the task.
  /// @param job index of the release.
  /// @param value see EventType.
  /// @param topic number of the topic.
  /// @param detail see EventType.
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
