// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ends a measurement in order: a flag that a signal sets and that wakes all sleepers, so that
/// every loop ends by itself, writes its results and returns.
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
#include "takt/os/not_granted.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

/// A flag that is set once and never reset. All functions are thread-safe.
class TAKT_CORE_PUBLIC StopFlag {
 public:
  /// The most events that can be attached at a time.
  static constexpr std::size_t max_events = 16;

  StopFlag() noexcept = default;

  /// Whether a stop was requested. Wait-free.
  [[nodiscard]] bool requested() const noexcept {
    return word_.load(std::memory_order_acquire) != 0;
  }

  /// Sets the flag, wakes all threads in wait() and wait_until() and notifies the attached events.
  /// Safe in a signal handler.
  void request() noexcept;

  /// Sleeps until the flag is set.
  void wait() const noexcept;

  /// Sleeps until the flag is set or `deadline` is reached. Misses no request, whichever thread
  /// takes the signal.
  /// @return whether the flag is set.
  [[nodiscard]] bool wait_until(TimePoint deadline) const noexcept;

  /// Makes request() also notify `event`, for a loop that sleeps on an event; notifies it at once
  /// if the flag is already set. The event must outlive the flag, or be detached while no request
  /// can be in progress.
  /// @throws std::length_error for more than max_events.
  void attach(Event& event);

  /// Undoes attach().
  void detach(Event& event) noexcept;

 private:
  FutexWord word_{0};
  std::array<std::atomic<Event*>, max_events> events_{};
};

/// Installs signal handlers that set a StopFlag, as long as it exists. Blocking system calls that
/// these signals interrupt return EINTR.
class TAKT_CORE_PUBLIC StopOnSignal {
 public:
  /// @param flag must outlive this object.
  /// @param signals the signals to handle; their former handlers are restored at the end.
  /// @throws std::logic_error if the process has an instance already. The instance of a parent does
  /// not count after fork().
  explicit StopOnSignal(StopFlag& flag, std::initializer_list<int> signals = {SIGINT, SIGTERM});

  /// Restores the former handlers.
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

/// Asks the kernel to send `signal` to this process when the thread that started it ends
/// (PR_SET_PDEATHSIG). The setting ends at the exec of a privileged file; children do not inherit
/// it.
/// @param signal what to send.
/// @param parent the process id of the parent, if known: if it has already ended, the signal is
/// raised at once.
/// @return what was not granted, where the kernel refused.
TAKT_CORE_PUBLIC std::optional<NotGranted> end_with_parent(int signal = SIGTERM,
                                                           std::optional<pid_t> parent = {});

}  // namespace takt::os
