// SPDX-License-Identifier: Apache-2.0
//
// One datagram each way, whatever carries it: the head of a message, and how two ends meet.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/probe/link.hpp"

namespace takt::probe {

/// Head of a datagram, in the byte order of the machine.
struct DatagramHead {
  std::uint32_t magic;
  std::uint32_t purpose;  // see datagram_link.cpp
  std::uint64_t sequence;
  std::int64_t intended;
  std::int64_t sent;
};
static_assert(sizeof(DatagramHead) == 32);

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

/// Reads "host:port"; throws UsageError.
Address parse_address(const std::string& text);

/// A UDP socket, of the pong bound to `address`, of the ping connected to it. Throws Failure.
int open_udp(Role role, const Address& address);

/// The pong is found at an address, the ping asks there until it is answered.
class DatagramLink : public Link {
 public:
  bool connect(os::TimePoint deadline) final;
  bool send(const Message& message) noexcept final;
  bool reply() noexcept final;
  std::optional<Message> receive(os::TimePoint deadline) noexcept final;
  std::size_t peers() const noexcept final { return 1; }
  std::optional<os::NotGranted> problem() const final;

 protected:
  /// `most_bytes`: the longest datagram, with its head.
  DatagramLink(Role role, std::size_t payload_bytes, std::size_t most_bytes, os::StopFlag& stop);

  /// Sends so many bytes of the buffer to the other end: a ping's to the address that it was given,
  /// a pong's to whom it took the last datagram from. A link that hands messages over ahead of
  /// their times sends them not before `due`. False: failed() was called.
  virtual bool transmit(std::size_t bytes, os::TimePoint due) noexcept = 0;

  /// Puts the next datagram into the buffer and returns its length; nothing at the deadline, when a
  /// stop was requested, or after failed().
  virtual std::optional<std::size_t> take(os::TimePoint deadline) noexcept = 0;

  void failed(int error) noexcept { error_ = error; }
  Role role() const noexcept { return role_; }
  bool stopped() const noexcept { return stop_.requested(); }
  std::vector<std::byte>& buffer() noexcept { return buffer_; }
  DatagramHead& head() noexcept { return *reinterpret_cast<DatagramHead*>(buffer_.data()); }

 private:
  Role role_;
  std::size_t bytes_;  // of the datagrams that this side begins
  os::StopFlag& stop_;
  int error_ = 0;
  std::size_t taken_bytes_ = 0;    // of the datagram in the buffer
  bool answered_ = false;          // ping: the pong is there
  std::vector<std::byte> buffer_;  // one datagram, in or out
};

}  // namespace takt::probe
