// SPDX-License-Identifier: Apache-2.0
#include "timed_udp_link.hpp"

#include <linux/net_tstamp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds most_ahead{1ms};

// etf lets a packet go from this long before its time on, and drops it after its time. So the time
// that the kernel is given is the end of this window, whose begin is the time that was asked for.
// The same as the `delta` of the queue that the tool sets up (shaping.py).
constexpr std::chrono::nanoseconds window{500us};

// Of packets with a time: the queue prio leads them to etf, and all others (ARP, other programs)
// past it, for etf drops what has no time.
constexpr int priority = 6;  // TC_PRIO_INTERACTIVE: the first band of prio

/// CLOCK_TAI, the only clock of etf, less CLOCK_MONOTONIC. Read for each message: it may be set.
std::chrono::nanoseconds tai_offset(os::TimePoint now) noexcept {
  timespec tai{};
  clock_gettime(CLOCK_TAI, &tai);
  return std::chrono::seconds{tai.tv_sec} + std::chrono::nanoseconds{tai.tv_nsec} -
         now.time_since_epoch();
}

}  // namespace

TimedUdpLink::TimedUdpLink(const Address& address, std::size_t payload_bytes,
                           std::chrono::nanoseconds period, os::StopFlag& stop)
    : UdpLink{Role::ping, address, payload_bytes, stop}, lead_{std::min(period / 2, most_ahead)} {
  const sock_txtime asked{.clockid = CLOCK_TAI, .flags = 0};
  if (setsockopt(socket(), SOL_SOCKET, SO_TXTIME, &asked, sizeof(asked)) != 0 ||
      setsockopt(socket(), SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)) != 0) {
    throw Failure{{.what = "datagrams cannot be sent at set times",
                   .why = "SO_TXTIME: " + os::error_text(errno),
                   .fix = "a kernel from 4.19 on, and CAP_NET_ADMIN (run it as root)"}};
  }
}

ssize_t TimedUdpLink::hand_over(std::size_t bytes, os::TimePoint due) noexcept {
  const auto now = os::now();
  // What is handed over too late, or has no time, leaves as soon as it surely can.
  const auto leaves = std::max<os::TimePoint>(due, now + lead_ / 2);
  const auto until = leaves + window + tai_offset(now);
  const auto time = static_cast<std::uint64_t>(until.time_since_epoch().count());
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(time))]{};
  iovec content{.iov_base = buffer().data(), .iov_len = bytes};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_TXTIME;
  head->cmsg_len = CMSG_LEN(sizeof(time));
  std::memcpy(CMSG_DATA(head), &time, sizeof(time));
  return sendmsg(socket(), &message, 0);
}

std::optional<std::size_t> TimedUdpLink::take(os::TimePoint deadline) noexcept {
  const auto bytes = UdpLink::take(deadline);
  if (bytes && *bytes >= sizeof(DatagramHead) &&
      os::now() < os::TimePoint{std::chrono::nanoseconds{head().sent}}) {
    ++early_;
  }
  return bytes;
}

std::optional<os::NotGranted> TimedUdpLink::detour() const {
  if (early_ == 0) {
    return {};
  }
  return os::NotGranted{
      .what = "the messages did not leave at their times",
      .why = std::to_string(early_) + " replies came before the message was to leave",
      .fix =
          "let the tool make the link (host \"here,namespace\"), or put the queues prio and etf "
          "on this interface: see docs/reference/probes.md"};
}

}  // namespace takt::probe
