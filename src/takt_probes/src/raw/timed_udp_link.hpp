// SPDX-License-Identifier: Apache-2.0
//
// UDP whose datagrams leave at set times: the ping hands each over ahead of its time, with the time
// (SO_TXTIME), and the queue etf of the interface ("earliest txtime first", tc-etf) lets it go
// then. So the wake-up of the sending thread is not in the message. The pong is that of plain UDP.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "udp_link.hpp"

namespace takt::probe {

/// One frame of Ethernet without its headers of IP and UDP: fragments would have no times.
inline constexpr std::size_t max_timed_payload_bytes = 1500 - 20 - 8 - sizeof(DatagramHead);

class TimedUdpLink : public UdpLink {
 public:
  /// The ping, connected to `address`. Half a period ahead, at most 1 ms, each message is handed
  /// over. Throws Failure where the kernel has no SO_TXTIME or this user may not use it.
  TimedUdpLink(const Address& address, std::size_t payload_bytes, std::chrono::nanoseconds period,
               os::StopFlag& stop);

  std::chrono::nanoseconds lead() const noexcept override { return lead_; }
  std::optional<os::NotGranted> detour() const override;

 protected:
  ssize_t hand_over(std::size_t bytes, os::TimePoint due) noexcept override;
  std::optional<std::size_t> take(os::TimePoint deadline) noexcept override;

 private:
  std::chrono::nanoseconds lead_;
  std::uint64_t early_ = 0;  // replies to messages that cannot have left at their times
};

}  // namespace takt::probe
