// SPDX-License-Identifier: Apache-2.0
//
// Ending a measurement: a flag that a signal sets and that wakes whoever sleeps, so that every loop
// ends by itself, writes what it has and leaves.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <initializer_list>
#include <optional>
#include <vector>

#include "takt/os/clock.hpp"
#include "takt/os/event.hpp"
#include "takt/os/futex.hpp"
#include "takt/os/shortfall.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

class TAKT_CORE_PUBLIC StopFlag {
 public:
  static constexpr std::size_t max_events = 16;

  StopFlag() noexcept = default;

  [[nodiscard]] bool requested() const noexcept {
    return word_.load(std::memory_order_acquire) != 0;
  }

  // Sets the flag for good, wakes all in wait() and wait_until() and notifies the attached events.
  // Safe in a signal handler and from any thread.
  void request() noexcept;

  // Sleeps until the flag is set.
  void wait() const noexcept;

  // Sleeps until the flag is set or `deadline` is reached; true when the flag is set. No request is
  // missed, whichever thread takes the signal.
  [[nodiscard]] bool wait_until(TimePoint deadline) const noexcept;

  // Makes request() notify `event` too, for a loop that sleeps on an event. At once when the flag
  // is set already. The event must outlive the flag, or be detached first while no request can be
  // under way. Throws std::length_error for more than max_events.
  void attach(Event& event);
  void detach(Event& event) noexcept;

 private:
  FutexWord word_{0};
  std::array<std::atomic<Event*>, max_events> events_{};
};

// While it lives, the given signals set `flag`; afterwards the former handlers are back. System
// calls that these signals interrupt return EINTR. At most one at a time in a process (throws
// std::logic_error); that of a parent does not count after a fork. The flag must outlive it.
class TAKT_CORE_PUBLIC StopOnSignal {
 public:
  explicit StopOnSignal(StopFlag& flag, std::initializer_list<int> signals = {SIGINT, SIGTERM});
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  StopOnSignal(StopOnSignal&&) = delete;
  StopOnSignal& operator=(StopOnSignal&&) = delete;

 private:
  struct Former {
    int signal;
    struct sigaction action;
  };
  void restore() noexcept;
  std::vector<Former> former_;
};

// Asks the kernel to send `signal` to this process when the thread that started it ends. It holds
// until an exec of a privileged file, and is not inherited by children. When the parent, `parent`
// if the caller knows its process id, is gone already, the signal is raised at once.
TAKT_CORE_PUBLIC std::optional<Shortfall> end_with_parent(int signal = SIGTERM,
                                                          std::optional<pid_t> parent = {});

}  // namespace takt::os
