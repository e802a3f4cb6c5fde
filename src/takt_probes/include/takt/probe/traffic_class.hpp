// SPDX-License-Identifier: Apache-2.0
//
// A class of their own for a probe's packets: the DSCP (RFC 2474) by which queues on their way tell
// them from other traffic. Middlewares have no option for it that all of them know, so it is set
// socket by socket, once the ends have met, and read back at the end.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "takt/os/not_granted.hpp"
#include "takt/probe/options.hpp"

namespace takt::probe {

/// How many sockets of the Internet this process has, and how many of them carry a DSCP.
struct MarkedSockets {
  std::size_t all = 0;
  std::size_t marked = 0;
};

class TrafficClass {
 public:
  explicit TrafficClass(const Options& options) : options_{options} {}

  /// Marks each socket that is there, once the ends have met; from any thread.
  void enforce();

  /// What is there now; nothing where nothing was asked.
  [[nodiscard]] MarkedSockets found() const;

  /// What differs from what was asked.
  [[nodiscard]] os::SettingsNotGranted not_granted(const MarkedSockets& found) const;

 private:
  const Options& options_;
  std::mutex mutex_;
  std::string refused_;
};

}  // namespace takt::probe
