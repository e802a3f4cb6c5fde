// SPDX-License-Identifier: Apache-2.0
#include "datagram_link.hpp"

#include <netdb.h>
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

[[noreturn]] void fail(const std::string& what, int error) {
  throw Failure{{.what = what,
                 .why = os::error_text(error),
                 .fix = "choose another free host:port with --topic"}};
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

int open_udp(Role role, const Address& address) {
  const int opened = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (opened < 0) {
    fail("a UDP socket could not be opened", errno);
  }
  const auto* where = reinterpret_cast<const sockaddr*>(&address.storage);
  const int result = role == Role::pong ? bind(opened, where, address.length)
                                        : connect(opened, where, address.length);
  if (result != 0) {
    const int error = errno;
    close(opened);
    fail(role == Role::pong ? "the UDP port could not be taken" : "the UDP address is unreachable",
         error);
  }
  return opened;
}

DatagramLink::DatagramLink(Role role, std::size_t payload_bytes, std::size_t most_bytes,
                           os::StopFlag& stop)
    : role_{role}, bytes_{sizeof(DatagramHead) + payload_bytes}, stop_{stop}, buffer_(most_bytes) {}

bool DatagramLink::connect(os::TimePoint deadline) {
  if (role_ == Role::pong) {
    return !stop_.requested();  // its port is taken; the hello is answered by receive()
  }
  while (!stop_.requested()) {
    head() = {.magic = magic, .purpose = hello, .sequence = 0, .intended = 0, .sent = 0};
    if (!transmit(sizeof(DatagramHead), {})) {
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

bool DatagramLink::send(const Message& message) noexcept {
  head() = {.magic = magic,
            .purpose = message.last ? last : sample,
            .sequence = message.sequence,
            .intended = message.intended.time_since_epoch().count(),
            .sent = message.sent.time_since_epoch().count()};
  return transmit(bytes_, message.sent);
}

bool DatagramLink::reply() noexcept {
  return transmit(taken_bytes_, {});
}

std::optional<Message> DatagramLink::receive(os::TimePoint deadline) noexcept {
  while (const auto bytes = take(deadline)) {
    if (*bytes < sizeof(DatagramHead) || head().magic != magic) {
      continue;  // not ours
    }
    taken_bytes_ = *bytes;
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

std::optional<os::NotGranted> DatagramLink::problem() const {
  if (error_ == 0) {
    return {};
  }
  return os::NotGranted{.what = "a datagram could not be sent or taken",
                        .why = os::error_text(error_),
                        .fix = "check the address of --topic and that its interface is up"};
}

}  // namespace takt::probe
