// SPDX-License-Identifier: Apache-2.0
//
// Ends the process in bounded time, whatever the measuring loop does. At the time limit it requests
// a stop; when the process is not done `grace` after any stop request (the loop hangs in a call of
// the middleware, or never sleeps), it leaves by _exit. It runs one priority above the loop and is
// not pinned, so that a loop which keeps its CPU cannot keep the watchdog from running.
#pragma once

#include <chrono>
#include <functional>

#include "takt/os/event.hpp"
#include "takt/os/stop.hpp"
#include "takt/os/thread.hpp"
#include "takt/probe/options.hpp"

namespace takt::probe {

class Watchdog {
 public:
  static constexpr std::chrono::seconds grace{3};

  /// Start it before the calling thread is pinned. `last_words` runs before _exit and returns the
  /// exit code; it must not wait for the loop.
  Watchdog(const Options& options, os::StopFlag& stop, std::function<int()> last_words);
  /// The process is about to end by itself.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Whether it was the time limit that requested the stop.
  bool time_limit_reached() const noexcept { return reached_.load(); }

  /// What kept it from running above the loop; to be asked for after the loop.
  os::SettingsNotGranted not_granted() const { return not_granted_; }

 private:
  void watch();
  void rise_above(const Options& options);

  os::StopFlag& stop_;
  os::TimePoint limit_;
  std::function<int()> last_words_;
  std::atomic<bool> reached_{false};
  std::atomic<bool> done_{false};
  os::Event wake_;
  os::SettingsNotGranted not_granted_;
  std::optional<os::Thread> thread_;
};

}  // namespace takt::probe
