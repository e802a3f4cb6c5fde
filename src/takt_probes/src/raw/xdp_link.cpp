// SPDX-License-Identifier: Apache-2.0
#include "xdp_link.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

// A stop request does not wake who waits for a frame: it looks up this often.
constexpr std::chrono::milliseconds slice{50};

// Offsets into a frame: RFC 894, 791, 768.
constexpr std::size_t mac_bytes = 6;
constexpr std::size_t ip = 14;
constexpr std::size_t ip_bytes = 20;
constexpr std::size_t ip_traffic_class = ip + 1;
constexpr std::size_t ip_length = ip + 2;
constexpr std::size_t ip_fragment = ip + 6;
constexpr std::size_t ip_lifetime = ip + 8;
constexpr std::size_t ip_checksum = ip + 10;
constexpr std::size_t ip_source = ip + 12;
constexpr std::size_t ip_destination = ip + 16;
constexpr std::size_t udp = ip + ip_bytes;
constexpr std::size_t udp_length = udp + 4;
constexpr std::size_t udp_checksum = udp + 6;
constexpr std::size_t udp_bytes = 8;
constexpr std::byte lifetime{64};

std::uint16_t read(std::span<const std::byte> from, std::size_t at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(from[at]) << 8U |
                                    std::to_integer<unsigned>(from[at + 1]));
}

void write(UdpHeaders& to, std::size_t at, std::size_t value) {
  to[at] = static_cast<std::byte>(value >> 8U);
  to[at + 1] = static_cast<std::byte>(value);
}

void swap(UdpHeaders& in, std::size_t one, std::size_t other, std::size_t bytes) {
  std::swap_ranges(in.begin() + static_cast<std::ptrdiff_t>(one),
                   in.begin() + static_cast<std::ptrdiff_t>(one + bytes),
                   in.begin() + static_cast<std::ptrdiff_t>(other));
}

/// The ones' complement sum over the header of IP (RFC 1071).
std::size_t checksum(const UdpHeaders& of) {
  std::size_t sum = 0;
  for (std::size_t at = ip; at < udp; at += 2) {
    sum += read(of, at);
  }
  while (sum > 0xffff) {
    sum = (sum & 0xffff) + (sum >> 16U);
  }
  return ~sum & 0xffff;
}

[[noreturn]] void not_here(const std::string& why, const std::string& fix) {
  throw Failure{{.what = "AF_XDP: there is no interface to take", .why = why, .fix = fix}};
}

/// The interface that has this address, and no other way of receiving than its first queue.
unsigned interface_of(const in_addr& address) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) {
    not_here(os::error_text(errno), "check ip addr");
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner{all, &freeifaddrs};
  const ifaddrs* found = all;
  for (; found != nullptr; found = found->ifa_next) {
    if (found->ifa_addr != nullptr && found->ifa_addr->sa_family == AF_INET &&
        reinterpret_cast<const sockaddr_in*>(found->ifa_addr)->sin_addr.s_addr == address.s_addr) {
      break;
    }
  }
  if (found == nullptr) {
    not_here("no interface has the address of this end", "give an address of ip addr with --topic");
  }
  if ((found->ifa_flags & IFF_LOOPBACK) != 0) {
    not_here("both ends are on this host", "put them on two hosts, or use --transport udp");
  }
  const std::string name = found->ifa_name;
  std::error_code ignored;
  const std::filesystem::directory_iterator queues{"/sys/class/net/" + name + "/queues", ignored};
  const auto receiving = std::count_if(begin(queues), end(queues), [](const auto& one) {
    return one.path().filename().string().starts_with("rx-");
  });
  if (receiving > 1) {
    not_here(name + " has " + std::to_string(receiving) + " receive queues, of which one is taken",
             "ethtool --set-channels " + name + " combined 1");
  }
  return if_nametoindex(name.c_str());
}

}  // namespace

UdpHeaders headers_back(const UdpHeaders& from, std::size_t bytes, std::uint8_t traffic_class) {
  UdpHeaders to = from;
  swap(to, 0, mac_bytes, mac_bytes);
  swap(to, ip_source, ip_destination, sizeof(in_addr));
  swap(to, udp, udp + 2, 2);
  to[ip_traffic_class] = std::byte{traffic_class};
  write(to, ip_length, ip_bytes + udp_bytes + bytes);
  write(to, ip_fragment, 0);
  to[ip_lifetime] = lifetime;
  write(to, ip_checksum, 0);
  write(to, ip_checksum, checksum(to));
  write(to, udp_length, udp_bytes + bytes);
  write(to, udp_checksum, 0);  // none: RFC 768
  return to;
}

XdpLink::Port::Port(Role role, const Address& address) : socket{open_udp(role, address)} {
  sockaddr_in own{};
  socklen_t length = sizeof(own);
  getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length);
  number = ntohs(own.sin_port);
  try {
    interface = interface_of(own.sin_addr);
  } catch (...) {
    close(socket);
    throw;
  }
}

XdpLink::Port::~Port() {
  close(socket);
}

XdpLink::XdpLink(Role role, const Address& address, std::size_t payload_bytes, int dscp,
                 os::StopFlag& stop)
    : DatagramLink{role, payload_bytes, XdpSocket::frame_bytes, stop},
      port_{role, address},
      socket_{port_.interface},
      filter_{port_.interface, port_.number},
      traffic_class_{static_cast<std::uint8_t>(dscp << 2)} {
  filter_.deliver_to(socket_.descriptor());
}

XdpLink::~XdpLink() = default;

bool XdpLink::transmit(std::size_t bytes, os::TimePoint /*due*/) noexcept {
  if (!last_) {  // only a ping that has not been answered
    if (::send(port_.socket, buffer().data(), bytes, 0) < 0 && errno != ECONNREFUSED &&
        errno != EHOSTUNREACH) {
      failed(errno);
      return false;
    }
    return true;
  }
  const auto frame = socket_.frame_to_send();
  if (!frame) {
    return true;  // lost: the interface is behind
  }
  const UdpHeaders headers = headers_back(*last_, bytes, traffic_class_);
  std::ranges::copy(headers, frame->begin());
  std::copy_n(buffer().begin(), bytes, frame->begin() + udp_headers_bytes);
  const int error = socket_.send(udp_headers_bytes + bytes);
  if (error != 0 && error != EAGAIN && error != EBUSY && error != ENOBUFS) {
    failed(error);
    return false;
  }
  return true;
}

bool XdpLink::wait_for_frame(os::TimePoint deadline) noexcept {
  const auto left = std::clamp<std::chrono::nanoseconds>(deadline - os::now(), 0ns, slice);
  const timespec time = os::to_timespec(os::TimePoint{left});
  pollfd ready{.fd = socket_.descriptor(), .events = POLLIN, .revents = 0};
  return ppoll(&ready, 1, &time, nullptr) > 0;
}

std::optional<std::size_t> XdpLink::take(os::TimePoint deadline) noexcept {
  while (!stopped()) {
    const auto frame = socket_.received();
    if (frame.empty()) {
      if (!wait_for_frame(deadline) && os::now() >= deadline) {
        return {};
      }
      continue;
    }
    // A short frame is padded to the least length of Ethernet: what counts is UDP's own length.
    std::size_t bytes = 0;
    if (frame.size() >= udp_headers_bytes) {
      const std::size_t length = read(frame, udp_length);
      bytes = std::min(length - std::min(length, udp_bytes), frame.size() - udp_headers_bytes);
      last_.emplace();
      std::copy_n(frame.begin(), udp_headers_bytes, last_->begin());
      std::copy_n(frame.begin() + udp_headers_bytes, bytes, buffer().begin());
    }
    socket_.give_back();
    if (bytes > 0) {
      return bytes;
    }
  }
  return {};
}

}  // namespace takt::probe
