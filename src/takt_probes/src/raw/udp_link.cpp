// SPDX-License-Identifier: Apache-2.0
#include "udp_link.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>

#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t magic = 0x4b415454;
constexpr std::uint32_t sample = 0;
constexpr std::uint32_t last = 1;
constexpr std::uint32_t hello = 2;  // "are you there?", answered with itself

// A blocking receive is one system call for a datagram, but a stop request does not wake it: it
// looks up this often.
constexpr std::chrono::milliseconds slice{50};

[[noreturn]] void fail(const std::string& what, int error) {
  throw Failure{{.what = what,
                 .why = os::error_text(error),
                 .fix = "choose another free host:port with --topic"}};
}

/// Errors after which a datagram is merely lost: the other side has gone or buffers are full.
bool passing(int error) {
  return error == ECONNREFUSED || error == EAGAIN || error == ENOBUFS || error == EINTR;
}

}  // namespace

Address parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  const auto wrong = [&text](const std::string& why) {
    throw UsageError{{.what = "--topic " + text,
                      .why = why,
                      .fix = "give host:port, for example 127.0.0.1:7400"}};
  };
  if (colon == std::string::npos || colon == 0) {
    wrong("this is not host:port");
  }
  int port = -1;
  const auto [end, error] =
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port < 1 || port > 65535) {
    wrong("the port is not a number from 1 to 65535");
  }
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int result =
      getaddrinfo(text.substr(0, colon).c_str(), text.c_str() + colon + 1, &wanted, &found);
  if (result != 0) {
    wrong("the host has no address: " + std::string{gai_strerror(result)});
  }
  Address address;
  address.length = found->ai_addrlen;
  std::copy_n(reinterpret_cast<const std::byte*>(found->ai_addr), found->ai_addrlen,
              reinterpret_cast<std::byte*>(&address.storage));
  freeaddrinfo(found);
  return address;
}

UdpLink::UdpLink(Role role, const Address& address, std::size_t payload_bytes, os::StopFlag& stop)
    : role_{role},
      bytes_{sizeof(DatagramHead) + payload_bytes},
      stop_{stop},
      buffer_(sizeof(DatagramHead) + max_udp_payload_bytes) {
  socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) {
    fail("a UDP socket could not be opened", errno);
  }
  const auto* where = reinterpret_cast<const sockaddr*>(&address.storage);
  const int result = role == Role::pong ? bind(socket_, where, address.length)
                                        : ::connect(socket_, where, address.length);
  if (result != 0) {
    const int error = errno;
    close(socket_);
    fail(role == Role::pong ? "the UDP port could not be taken" : "the UDP address is unreachable",
         error);
  }
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
    fail("the UDP port could not be read back", errno);
  }
  return address;
}

bool UdpLink::connect(os::TimePoint deadline) {
  if (role_ == Role::pong) {
    return !stop_.requested();  // its port is taken; the hello is answered by receive()
  }
  while (!stop_.requested()) {
    head() = {.magic = magic, .purpose = hello, .sequence = 0, .intended = 0, .sent = 0};
    if (!send_buffer(sizeof(DatagramHead))) {
      throw Failure{*problem()};
    }
    receive(os::now() + 20ms);
    if (answered_) {
      return true;
    }
    if (os::now() >= deadline) {
      throw Failure{{.what = "no pong answered",
                     .why = "nothing came back from the address of --topic",
                     .fix = "start the pong first, with the same --topic"}};
    }
    static_cast<void>(stop_.wait_until(os::now() + 5ms));
  }
  return false;
}

bool UdpLink::send(const Message& message) noexcept {
  head() = {.magic = magic,
            .purpose = message.last ? last : sample,
            .sequence = message.sequence,
            .intended = message.intended.time_since_epoch().count(),
            .sent = message.sent.time_since_epoch().count()};
  return send_buffer(bytes_);
}

bool UdpLink::reply() noexcept {
  return send_buffer(taken_bytes_);
}

bool UdpLink::send_buffer(std::size_t bytes) noexcept {
  const bool to_peer = role_ == Role::pong;
  const auto* where = to_peer ? reinterpret_cast<const sockaddr*>(&peer_.storage) : nullptr;
  // Twice: a refusal that is pending from an earlier datagram is reported here, without sending.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (sendto(socket_, buffer_.data(), bytes, 0, where, to_peer ? peer_.length : 0) >= 0) {
      return true;
    }
    if (!passing(errno)) {
      error_ = errno;
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

std::optional<Message> UdpLink::receive(os::TimePoint deadline) noexcept {
  while (!stop_.requested()) {
    if (!wait_for_datagram(deadline)) {
      if (os::now() >= deadline) {
        return {};
      }
      continue;
    }
    peer_.length = sizeof(peer_.storage);
    const auto bytes = recvfrom(socket_, buffer_.data(), buffer_.size(), 0,
                                reinterpret_cast<sockaddr*>(&peer_.storage), &peer_.length);
    if (bytes < 0) {
      if (!passing(errno)) {
        error_ = errno;
        return {};
      }
      continue;
    }
    if (static_cast<std::size_t>(bytes) < sizeof(DatagramHead) || head().magic != magic) {
      continue;  // not ours
    }
    taken_bytes_ = static_cast<std::size_t>(bytes);
    if (head().purpose == hello) {
      const bool news = !answered_;
      answered_ = true;
      if (role_ == Role::pong ? !reply() : news) {
        return {};
      }
      continue;  // over a long way a ping has asked more than once, and is answered as often
    }
    using std::chrono::nanoseconds;
    return Message{.sequence = head().sequence,
                   .intended = os::TimePoint{nanoseconds{head().intended}},
                   .sent = os::TimePoint{nanoseconds{head().sent}},
                   .last = head().purpose == last};
  }
  return {};
}

std::optional<os::NotGranted> UdpLink::problem() const {
  if (error_ == 0) {
    return {};
  }
  return os::NotGranted{.what = "a datagram could not be sent or taken",
                        .why = os::error_text(error_),
                        .fix = "check the address of --topic and that its interface is up"};
}

}  // namespace takt::probe
