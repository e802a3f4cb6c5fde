// SPDX-License-Identifier: Apache-2.0
//
// One datagram each way: what the network stack of the kernel costs, without any middleware. The
// pong is bound to host:port, the ping to any port.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>

#include "datagram_link.hpp"

namespace takt::probe {

/// What one IPv4 datagram can carry besides the head; more would need fragments and flow control,
/// which are what middleware is for.
inline constexpr std::size_t max_udp_payload_bytes = 65507 - sizeof(DatagramHead);

class UdpLink : public DatagramLink {
 public:
  /// The pong is bound to `address`, the ping connected to it. Throws Failure.
  UdpLink(Role role, const Address& address, std::size_t payload_bytes, os::StopFlag& stop);
  ~UdpLink() override;
  UdpLink(const UdpLink&) = delete;
  UdpLink& operator=(const UdpLink&) = delete;

  /// Where a pong is bound: the port that the kernel chose, if 0 was asked for.
  Address bound_to() const;

 protected:
  bool transmit(std::size_t bytes, os::TimePoint due) noexcept final;

  /// Gives the kernel a datagram for the other end; negative: see errno.
  virtual ssize_t hand_over(std::size_t bytes, os::TimePoint due) noexcept;

  int socket() const noexcept { return socket_; }
  std::optional<std::size_t> take(os::TimePoint deadline) noexcept override;

 private:
  bool wait_for_datagram(os::TimePoint deadline) noexcept;

  int socket_;
  Address peer_;  // pong: who sent last
};

}  // namespace takt::probe
