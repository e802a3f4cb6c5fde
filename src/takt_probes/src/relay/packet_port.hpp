// SPDX-License-Identifier: Apache-2.0
//
// All frames of a network interface (packet(7)), with what the kernel has still to do to them:
// their heads say whether a checksum is missing, or whether a frame is to be cut into several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "takt/os/clock.hpp"

namespace takt::relay {

struct Received {
  std::uint32_t length = 0;
  os::TimePoint arrived;  ///< by the kernel's stamp
};

class PacketPort {
 public:
  /// Throws probe::Failure, without CAP_NET_RAW for one.
  explicit PacketPort(const std::string& interface);
  ~PacketPort();
  PacketPort(const PacketPort&) = delete;
  PacketPort& operator=(const PacketPort&) = delete;
  PacketPort(PacketPort&&) = delete;
  PacketPort& operator=(PacketPort&&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return socket_; }

  /// The next frame that has come over the interface; nothing when there is none. Does not wait.
  std::optional<Received> receive(std::span<std::byte> into) noexcept;

  /// Whether no frame will ever come again.
  [[nodiscard]] bool broken() const noexcept { return broken_; }

  /// False where the interface did not take it.
  bool send(std::span<const std::byte> frame) const noexcept;

  /// Frames that the kernel had no room for since the last call.
  [[nodiscard]] std::uint64_t missed() const noexcept;

 private:
  int socket_;
  bool broken_ = false;
};

}  // namespace takt::relay
