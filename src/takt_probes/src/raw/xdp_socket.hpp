// SPDX-License-Identifier: Apache-2.0
//
// An AF_XDP socket: frames of an interface in memory that this process shares with the kernel.
// Kernel: Documentation/networking/af_xdp.rst.
#pragma once

#include <linux/if_xdp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace takt::probe {

/// One of the four rings between this process and the kernel: one side produces, the other
/// consumes.
class XdpRing {
 public:
  /// Maps the ring of a socket that has so many entries. Throws Failure.
  void map(int socket, std::uint64_t place, const xdp_ring_offset& offsets,
           std::size_t entry_bytes);
  void unmap() noexcept;

  /// The entries between both sides, as this side may know them.
  std::uint32_t filled() const noexcept;

  /// Entry of a ring that this side fills; call only if filled() < entries, then publish().
  template <class Entry>
  Entry& next_to_fill() noexcept {
    return entry<Entry>(own(producer_));
  }
  void publish() noexcept;

  /// The oldest entry of a ring that the kernel fills; call only if filled() > 0, then release().
  template <class Entry>
  const Entry& oldest() noexcept {
    return entry<Entry>(own(consumer_));
  }
  void release() noexcept;

  static constexpr std::uint32_t entries = 64;

 private:
  static std::uint32_t own(const std::uint32_t* index) noexcept { return *index; }

  template <class Entry>
  Entry& entry(std::uint32_t index) noexcept {
    return reinterpret_cast<Entry*>(content_)[index % entries];
  }

  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint32_t* producer_ = nullptr;
  std::uint32_t* consumer_ = nullptr;
  std::byte* content_ = nullptr;
};

class XdpSocket {
 public:
  static constexpr std::size_t frame_bytes = 2048;

  /// Binds to the first queue of an interface; frames are copied, as every driver can. Throws
  /// Failure.
  explicit XdpSocket(unsigned interface);
  ~XdpSocket();
  XdpSocket(const XdpSocket&) = delete;
  XdpSocket& operator=(const XdpSocket&) = delete;

  int descriptor() const noexcept { return socket_; }

  /// Where the next frame to be sent is written; nothing while the kernel has all of them.
  std::optional<std::span<std::byte>> frame_to_send() noexcept;

  /// Sends so many bytes of that frame. Returns 0, or the error of the system call.
  int send(std::size_t bytes) noexcept;

  /// The oldest frame that came; empty: none. It is valid until give_back().
  std::span<const std::byte> received() noexcept;
  void give_back() noexcept;

 private:
  void open(unsigned interface);
  void close_all() noexcept;
  std::span<std::byte> frame(std::uint64_t address, std::size_t bytes) noexcept;

  int socket_ = -1;
  std::byte* frames_ = nullptr;
  XdpRing fill_, completed_, received_, sent_;
  std::uint32_t under_way_ = 0;  // frames to be sent that the kernel has
  std::uint32_t next_ = 0;       // of these frames
};

}  // namespace takt::probe
