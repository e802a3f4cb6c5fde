// SPDX-License-Identifier: Apache-2.0
//
// Datagrams of UDP over AF_XDP, between two hosts: frames pass the kernel's network stack by, and
// are the same on the wire. The first ping goes the kernel's way, which knows where the other host
// is; what comes back shows it to this end.
#pragma once

#include <net/if.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "datagram_link.hpp"
#include "xdp_filter.hpp"
#include "xdp_socket.hpp"

namespace takt::probe {

inline constexpr std::size_t udp_headers_bytes = 42;  ///< Ethernet, IPv4 and UDP

/// What one frame of Ethernet carries besides all heads.
inline constexpr std::size_t max_xdp_payload_bytes =
    1514 - udp_headers_bytes - sizeof(DatagramHead);

using UdpHeaders = std::array<std::byte, udp_headers_bytes>;

/// The headers of a datagram with so many bytes, back to where `from` came from, with this byte of
/// the traffic class.
UdpHeaders headers_back(const UdpHeaders& from, std::size_t bytes, std::uint8_t traffic_class);

class XdpLink : public DatagramLink {
 public:
  /// The pong is found at `address`, which is of an interface of this host, the ping asks there;
  /// `dscp` is that of its packets. Throws Failure.
  XdpLink(Role role, const Address& address, std::size_t payload_bytes, int dscp,
          os::StopFlag& stop);
  ~XdpLink() override;
  XdpLink(const XdpLink&) = delete;
  XdpLink& operator=(const XdpLink&) = delete;

 protected:
  bool transmit(std::size_t bytes, os::TimePoint due) noexcept override;
  std::optional<std::size_t> take(os::TimePoint deadline) noexcept override;

 private:
  /// A socket of the kernel, which keeps the port and knows the interface.
  class Port {
   public:
    Port(Role role, const Address& address);
    ~Port();
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    int socket;
    std::uint16_t number;  // of this end
    unsigned interface;
  };

  bool wait_for_frame(os::TimePoint deadline) noexcept;

  Port port_;
  XdpSocket socket_;
  XdpFilter filter_;
  std::uint8_t traffic_class_;
  std::optional<UdpHeaders> last_;  // of the datagram that was taken last
};

}  // namespace takt::probe
