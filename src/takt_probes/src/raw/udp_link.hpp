// SPDX-License-Identifier: Apache-2.0
//
// One datagram each way: what the network stack of the kernel costs, without any middleware. The
// pong is bound to host:port, the ping to any port.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <string>
#include <vector>

#include "takt/probe/link.hpp"

namespace takt::probe {

/// Head of a datagram, in the byte order of the machine.
struct DatagramHead {
  std::uint32_t magic;
  std::uint32_t purpose;  // see udp_link.cpp
  std::uint64_t sequence;
  std::int64_t intended;
  std::int64_t sent;
};
static_assert(sizeof(DatagramHead) == 32);

/// What one IPv4 datagram can carry besides the head; more would need fragments and flow control,
/// which are what middleware is for.
inline constexpr std::size_t max_udp_payload_bytes = 65507 - sizeof(DatagramHead);

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

/// Reads "host:port"; throws UsageError.
Address parse_address(const std::string& text);

class UdpLink : public Link {
 public:
  /// The pong is bound to `address`, the ping connected to it. Throws Failure.
  UdpLink(Role role, const Address& address, std::size_t payload_bytes, os::StopFlag& stop);
  ~UdpLink() override;
  UdpLink(const UdpLink&) = delete;
  UdpLink& operator=(const UdpLink&) = delete;

  /// Where a pong is bound: the port that the kernel chose, if 0 was asked for.
  Address bound_to() const;

  bool connect(os::TimePoint deadline) override;
  bool send(const Message& message) noexcept override;
  bool reply() noexcept override;
  std::optional<Message> receive(os::TimePoint deadline) noexcept override;
  std::size_t peers() const noexcept override { return 1; }
  std::optional<os::NotGranted> problem() const override;

 private:
  bool send_buffer(std::size_t bytes) noexcept;
  DatagramHead& head() noexcept { return *reinterpret_cast<DatagramHead*>(buffer_.data()); }
  bool wait_for_datagram(os::TimePoint deadline) noexcept;

  Role role_;
  std::size_t bytes_;  // of the datagrams that this side begins
  os::StopFlag& stop_;
  int socket_ = -1;
  int error_ = 0;
  Address peer_;                   // pong: who sent last
  std::size_t taken_bytes_ = 0;    // of the datagram in the buffer
  bool answered_ = false;          // ping: the pong is there
  std::vector<std::byte> buffer_;  // one datagram, in or out
};

}  // namespace takt::probe
