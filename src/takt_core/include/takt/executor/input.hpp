// SPDX-License-Identifier: Apache-2.0
/// @file
/// The inputs of a task: objects whose pending messages can be delivered at any moment. The front
/// end that knows the middleware implements them.
#pragma once

#include <cstdint>
#include <optional>

#include "takt/os/clock.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

/// The result of a delivery.
struct Delivered {
  std::uint32_t count = 0;  ///< Messages that this call delivered.
  /// When the newest data that the task now has was sampled: the release of the job at the head of
  /// the chain that produced it if the front end knows it, else the time of publication or arrival.
  /// Nothing: unknown, or no data yet.
  std::optional<os::TimePoint> sampled = {};
  /// The key of the message with that data (publish_message()). Nothing: it has none.
  std::optional<std::int64_t> message = {};
};

/// Something a task reads, implemented by a front end.
class TAKT_CORE_PUBLIC Input {
 public:
  Input() = default;
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  Input(Input&&) = delete;
  Input& operator=(Input&&) = delete;

  /// Tasks share ownership of their inputs (BoundInput).
  virtual ~Input();

  /// Passes every message that is pending now to its callback, on the calling thread, oldest first;
  /// bounded by the depth of the queue. Two tasks that read the same topic may call it at the same
  /// time from two threads. An exception of a callback is treated as one of the task
  /// (Options::exceptions).
  virtual Delivered deliver_pending() = 0;
};

}  // namespace takt::executor
