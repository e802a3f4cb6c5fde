// SPDX-License-Identifier: Apache-2.0
//
// Between the middleware's thread, which announces messages, and the probe's thread, which takes
// them. Each announcement is worth one attempt to take, so that the probe neither waits with a
// message in the history nor looks into an empty one.
#pragma once

#include <atomic>
#include <cstddef>

#include "takt/os/event.hpp"
#include "takt/os/stop.hpp"

namespace takt::probe {

class Inbox {
 public:
  explicit Inbox(os::StopFlag& stop) : stop_{stop} { stop_.attach(event_); }
  ~Inbox() { stop_.detach(event_); }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// For the on-new-message callback.
  void announce(std::size_t messages) noexcept {
    announced_.fetch_add(messages);
    event_.notify();
  }

  /// Waits for an announcement and consumes it; false at the deadline or when a stop is requested.
  bool await(os::TimePoint deadline) noexcept {
    while (announced_.load() == 0) {
      if (stop_.requested() || !event_.wait_until(deadline)) {
        return false;
      }
    }
    announced_.fetch_sub(1);
    return true;
  }

 private:
  os::StopFlag& stop_;
  os::Event event_;
  std::atomic<std::size_t> announced_{0};
};

}  // namespace takt::probe
