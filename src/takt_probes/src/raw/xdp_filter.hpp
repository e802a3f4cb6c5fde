// SPDX-License-Identifier: Apache-2.0
//
// Which frames of an interface an AF_XDP socket gets: those of UDP to one port. All others go the
// kernel's way. The kernel detaches the filter when the process ends, however it does.
#pragma once

#include <cstdint>

namespace takt::probe {

class XdpFilter {
 public:
  /// Attaches to an interface, in front of the kernel's network stack, for frames without options
  /// of IP. Generic mode, which every driver has. Throws Failure.
  XdpFilter(unsigned interface, std::uint16_t port);
  ~XdpFilter();
  XdpFilter(const XdpFilter&) = delete;
  XdpFilter& operator=(const XdpFilter&) = delete;

  /// The socket of the first receive queue. Throws Failure.
  void deliver_to(int socket) const;

 private:
  void close_all() noexcept;

  int map_ = -1;
  int program_ = -1;
  int link_ = -1;
};

/// The failure of a step of AF_XDP, with what the system call said.
[[noreturn]] void fail_of_xdp(const char* step, int error);

}  // namespace takt::probe
