// SPDX-License-Identifier: Apache-2.0
#include "udp_link.hpp"

#include <poll.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

// A blocking receive is one system call for a datagram, but a stop request does not wake it: it
// looks up this often.
constexpr std::chrono::milliseconds slice{50};

/// Errors after which a datagram is merely lost: the other side has gone or buffers are full.
bool passing(int error) {
  return error == ECONNREFUSED || error == EAGAIN || error == ENOBUFS || error == EINTR;
}

}  // namespace

UdpLink::UdpLink(Role role, const Address& address, std::size_t payload_bytes, os::StopFlag& stop)
    : DatagramLink{role, payload_bytes, sizeof(DatagramHead) + max_udp_payload_bytes, stop},
      socket_{open_udp(role, address)} {
  const timeval time_out{
      .tv_sec = 0, .tv_usec = std::chrono::duration_cast<std::chrono::microseconds>(slice).count()};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time_out, sizeof(time_out));
}

UdpLink::~UdpLink() {
  close(socket_);
}

Address UdpLink::bound_to() const {
  Address address;
  address.length = sizeof(address.storage);
  if (getsockname(socket_, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) {
    throw Failure{{.what = "the UDP port could not be read back",
                   .why = os::error_text(errno),
                   .fix = "give a free host:port with --topic"}};
  }
  return address;
}

ssize_t UdpLink::hand_over(std::size_t bytes, os::TimePoint /*due*/) noexcept {
  const bool to_peer = role() == Role::pong;
  const auto* where = to_peer ? reinterpret_cast<const sockaddr*>(&peer_.storage) : nullptr;
  return sendto(socket_, buffer().data(), bytes, 0, where, to_peer ? peer_.length : 0);
}

bool UdpLink::transmit(std::size_t bytes, os::TimePoint due) noexcept {
  // Twice: a refusal that is pending from an earlier datagram is reported here, without sending.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (hand_over(bytes, due) >= 0) {
      return true;
    }
    if (!passing(errno)) {
      failed(errno);
      return false;
    }
  }
  return true;
}

bool UdpLink::wait_for_datagram(os::TimePoint deadline) noexcept {
  const auto left = deadline - os::now();
  if (left >= slice) {
    return true;  // the blocking receive will do
  }
  const timespec time =
      os::to_timespec(os::TimePoint{std::max<std::chrono::nanoseconds>(left, 0ns)});
  pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
  return ppoll(&ready, 1, &time, nullptr) > 0;
}

std::optional<std::size_t> UdpLink::take(os::TimePoint deadline) noexcept {
  while (!stopped()) {
    if (!wait_for_datagram(deadline)) {
      if (os::now() >= deadline) {
        return {};
      }
      continue;
    }
    peer_.length = sizeof(peer_.storage);
    const auto bytes = recvfrom(socket_, buffer().data(), buffer().size(), 0,
                                reinterpret_cast<sockaddr*>(&peer_.storage), &peer_.length);
    if (bytes >= 0) {
      return static_cast<std::size_t>(bytes);
    }
    if (!passing(errno)) {
      failed(errno);
      return {};
    }
  }
  return {};
}

}  // namespace takt::probe
