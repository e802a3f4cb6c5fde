// SPDX-License-Identifier: Apache-2.0
//
// What a task reads, as the executor sees it: something whose pending messages can be delivered
// now. The front end that knows the middleware implements it.
#pragma once

#include <cstdint>
#include <optional>

#include "takt/os/clock.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

struct Delivered {
  std::uint32_t count = 0;  // messages delivered by this call
  // When the newest data that the task now has was sampled: the release of the job at the head of
  // the chain that produced it, where the front end knows it, else the time of publication or
  // arrival. Nothing: unknown, or no data yet.
  std::optional<os::TimePoint> sampled = {};
};

class TAKT_CORE_PUBLIC Input {
 public:
  Input() = default;
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  Input(Input&&) = delete;
  Input& operator=(Input&&) = delete;
  virtual ~Input();

  // Hands every message that is pending now to its callback, on the calling thread, oldest first.
  // Bounded by the depth of the queue. Two tasks that read the same topic may call it at the same
  // time, from two threads. What a callback throws is treated as of the task (Options::exceptions).
  virtual Delivered deliver_pending() = 0;
};

}  // namespace takt::executor
