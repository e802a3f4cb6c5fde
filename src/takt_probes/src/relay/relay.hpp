// SPDX-License-Identifier: Apache-2.0
//
// Forwards frames between two interfaces, and counts what it did. It measures itself: how late each
// frame was sent after it was due.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "delay_line.hpp"
#include "packet_port.hpp"
#include "takt/os/clock.hpp"
#include "takt/os/stop.hpp"
#include "takt/stats/histogram.hpp"

namespace takt::relay {

/// Of the frames from one interface to the other.
struct Counters {
  std::uint64_t received = 0;
  std::uint64_t forwarded = 0;
  std::uint64_t lost = 0;        ///< by chance, as was asked
  std::uint64_t overflowed = 0;  ///< all slots were taken
  std::uint64_t unsent = 0;      ///< the other interface did not take it
  std::uint64_t missed = 0;      ///< the kernel had no room
  stats::Histogram late;         ///< sent - due
  stats::Histogram delay;        ///< sent - arrived
};

enum class End : std::uint8_t { stopped, time_is_up, interface_gone };

class Relay {
 public:
  /// `slots` frames may wait. Throws probe::Failure or std::bad_alloc.
  Relay(const std::array<std::string, 2>& interfaces, const Impairment& impairment,
        std::uint64_t seed, std::size_t slots);

  /// Forwards until a stop request, at most until `end`.
  End run(const os::StopFlag& stop, os::TimePoint end) noexcept;

  /// Of the frames that came from the first interface, and from the second.
  const std::array<Counters, 2>& counters() noexcept;

 private:
  void wait(os::TimePoint end) noexcept;
  void take(std::uint8_t from) noexcept;
  void send_due() noexcept;

  std::array<PacketPort, 2> ports_;
  std::array<Chance, 2> chances_;
  std::array<Counters, 2> counters_;
  DelayLine line_;
  std::array<std::byte, DelayLine::slot_bytes> spare_{};  // for frames that find no slot
};

}  // namespace takt::relay
