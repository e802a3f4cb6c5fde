// SPDX-License-Identifier: Apache-2.0
#include "packet_port.hpp"

#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

#include "takt/probe/failure.hpp"

namespace takt::relay {
namespace {

using namespace std::chrono_literals;

constexpr int receive_buffer = 16 * 1024 * 1024;

[[noreturn]] void fail(const std::string& interface, const std::string& call) {
  throw probe::Failure{{.what = "frames of the interface " + interface,
                        .why = call + ": " + os::error_text(errno),
                        .fix = "it needs CAP_NET_RAW and an interface that is there"}};
}

// The kernel stamps with CLOCK_REALTIME. A stamp that cannot be (the clock was set) counts as now.
os::TimePoint arrival(const timespec& stamp) noexcept {
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  const os::TimePoint now = os::now();
  const std::chrono::nanoseconds age = std::chrono::seconds{wall.tv_sec - stamp.tv_sec} +
                                       std::chrono::nanoseconds{wall.tv_nsec - stamp.tv_nsec};
  return age < 0ns || age > 1s ? now : now - age;
}

}  // namespace

PacketPort::PacketPort(const std::string& interface)
    : socket_{socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)} {
  if (socket_ < 0) {
    fail(interface, "socket");
  }
  const int yes = 1;
  setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &receive_buffer, sizeof(receive_buffer));
  sockaddr_ll where{};
  where.sll_family = AF_PACKET;
  where.sll_protocol = htons(ETH_P_ALL);
  where.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  const bool ready =
      where.sll_ifindex != 0 &&
      setsockopt(socket_, SOL_PACKET, PACKET_VNET_HDR, &yes, sizeof(yes)) == 0 &&
      setsockopt(socket_, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof(yes)) == 0 &&
      setsockopt(socket_, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes)) == 0 &&
      bind(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) == 0;
  if (!ready) {
    const int error = errno;
    close(socket_);
    errno = error;
    fail(interface, "bind");
  }
}

PacketPort::~PacketPort() {
  close(socket_);
}

std::optional<Received> PacketPort::receive(std::span<std::byte> into) noexcept {
  iovec part{.iov_base = into.data(), .iov_len = into.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(timespec))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t length = recvmsg(socket_, &message, 0);
  if (length <= 0) {
    broken_ = length < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS;
    return std::nullopt;
  }
  os::TimePoint arrived = os::now();
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_TIMESTAMPNS) {
      timespec stamp{};
      std::memcpy(&stamp, CMSG_DATA(one), sizeof(stamp));
      arrived = arrival(stamp);
    }
  }
  return Received{.length = static_cast<std::uint32_t>(length), .arrived = arrived};
}

bool PacketPort::send(std::span<const std::byte> frame) const noexcept {
  return ::send(socket_, frame.data(), frame.size(), MSG_DONTWAIT) ==
         static_cast<ssize_t>(frame.size());
}

std::uint64_t PacketPort::missed() const noexcept {
  tpacket_stats found{};
  socklen_t length = sizeof(found);
  return getsockopt(socket_, SOL_PACKET, PACKET_STATISTICS, &found, &length) == 0 ? found.tp_drops
                                                                                  : 0;
}

}  // namespace takt::relay
