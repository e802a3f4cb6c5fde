// SPDX-License-Identifier: Apache-2.0
#include "xdp_socket.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "xdp_filter.hpp"

namespace takt::probe {
namespace {

// As many frames may be received as sent; the first ones are those to be received.
constexpr std::uint32_t frames_each_way = XdpRing::entries;
constexpr std::size_t memory_bytes = std::size_t{2} * frames_each_way * XdpSocket::frame_bytes;

std::uint32_t acquired(std::uint32_t* index) {
  return std::atomic_ref{*index}.load(std::memory_order_acquire);
}

void advance(std::uint32_t* index) {
  std::atomic_ref{*index}.store(*index + 1, std::memory_order_release);
}

template <class Value>
void set(int socket, int option, const Value& value, const char* step) {
  if (setsockopt(socket, SOL_XDP, option, &value, sizeof(value)) != 0) {
    fail_of_xdp(step, errno);
  }
}

}  // namespace

void XdpRing::map(int socket, std::uint64_t place, const xdp_ring_offset& offsets,
                  std::size_t entry_bytes) {
  bytes_ = offsets.desc + entries * entry_bytes;
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                            socket, static_cast<off_t>(place));
  if (mapped == MAP_FAILED) {
    fail_of_xdp("a ring could not be mapped", errno);
  }
  memory_ = mapped;
  auto* const start = static_cast<std::byte*>(mapped);
  producer_ = reinterpret_cast<std::uint32_t*>(start + offsets.producer);
  consumer_ = reinterpret_cast<std::uint32_t*>(start + offsets.consumer);
  content_ = start + offsets.desc;
}

void XdpRing::unmap() noexcept {
  if (memory_ != nullptr) {
    munmap(memory_, bytes_);
  }
}

std::uint32_t XdpRing::filled() const noexcept {
  return acquired(producer_) - acquired(consumer_);
}

void XdpRing::publish() noexcept {
  advance(producer_);
}

void XdpRing::release() noexcept {
  advance(consumer_);
}

XdpSocket::XdpSocket(unsigned interface) {
  try {
    open(interface);
  } catch (...) {
    close_all();
    throw;
  }
}

XdpSocket::~XdpSocket() {
  close_all();
}

void XdpSocket::close_all() noexcept {
  for (XdpRing* ring : {&fill_, &completed_, &received_, &sent_}) {
    ring->unmap();
  }
  if (socket_ >= 0) {
    close(socket_);
  }
  if (frames_ != nullptr) {
    munmap(frames_, memory_bytes);
  }
}

void XdpSocket::open(unsigned interface) {
  socket_ = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (socket_ < 0) {
    fail_of_xdp("a socket could not be opened", errno);
  }
  void* const mapped = mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (mapped == MAP_FAILED) {
    fail_of_xdp("there is no memory for its frames", errno);
  }
  frames_ = static_cast<std::byte*>(mapped);
  xdp_umem_reg memory{};
  memory.addr = reinterpret_cast<std::uint64_t>(frames_);
  memory.len = memory_bytes;
  memory.chunk_size = frame_bytes;
  set(socket_, XDP_UMEM_REG, memory, "the kernel did not take the memory of its frames");
  const int entries = XdpRing::entries;
  for (const int ring : {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING, XDP_TX_RING}) {
    set(socket_, ring, entries, "a ring could not be created");
  }
  xdp_mmap_offsets offsets{};
  socklen_t length = sizeof(offsets);
  if (getsockopt(socket_, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) != 0) {
    fail_of_xdp("the places of its rings could not be read", errno);
  }
  fill_.map(socket_, XDP_UMEM_PGOFF_FILL_RING, offsets.fr, sizeof(std::uint64_t));
  completed_.map(socket_, XDP_UMEM_PGOFF_COMPLETION_RING, offsets.cr, sizeof(std::uint64_t));
  received_.map(socket_, XDP_PGOFF_RX_RING, offsets.rx, sizeof(xdp_desc));
  sent_.map(socket_, XDP_PGOFF_TX_RING, offsets.tx, sizeof(xdp_desc));
  for (std::uint32_t each = 0; each < frames_each_way; ++each) {
    fill_.next_to_fill<std::uint64_t>() = each * frame_bytes;
    fill_.publish();
  }
  sockaddr_xdp where{};
  where.sxdp_family = AF_XDP;
  where.sxdp_ifindex = interface;
  where.sxdp_queue_id = 0;
  where.sxdp_flags = XDP_COPY;
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) != 0) {
    fail_of_xdp("the first queue of the interface could not be taken", errno);
  }
}

std::span<std::byte> XdpSocket::frame(std::uint64_t address, std::size_t bytes) noexcept {
  return {frames_ + address, bytes};
}

std::optional<std::span<std::byte>> XdpSocket::frame_to_send() noexcept {
  // The kernel gives frames back in the order in which they were sent.
  for (; completed_.filled() > 0; completed_.release()) {
    --under_way_;
  }
  if (under_way_ == frames_each_way) {
    return {};
  }
  return frame((frames_each_way + next_) * frame_bytes, frame_bytes);
}

int XdpSocket::send(std::size_t bytes) noexcept {
  sent_.next_to_fill<xdp_desc>() = {.addr = (frames_each_way + next_) * frame_bytes,
                                    .len = static_cast<std::uint32_t>(bytes),
                                    .options = 0};
  sent_.publish();
  next_ = (next_ + 1) % frames_each_way;
  ++under_way_;
  return sendto(socket_, nullptr, 0, MSG_DONTWAIT, nullptr, 0) < 0 ? errno : 0;
}

std::span<const std::byte> XdpSocket::received() noexcept {
  if (received_.filled() == 0) {
    return {};
  }
  const auto& one = received_.oldest<xdp_desc>();
  return frame(one.addr, one.len);
}

void XdpSocket::give_back() noexcept {
  // The ring of free frames has room: it has as many entries as there are frames to receive.
  const auto& one = received_.oldest<xdp_desc>();
  fill_.next_to_fill<std::uint64_t>() = one.addr / frame_bytes * frame_bytes;
  received_.release();
  fill_.publish();
}

}  // namespace takt::probe
