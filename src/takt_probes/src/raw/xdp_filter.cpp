// SPDX-License-Identifier: Apache-2.0
#include "xdp_filter.hpp"

#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include "takt/os/not_granted.hpp"
#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

// Offsets into an Ethernet frame with IPv4 and UDP.
constexpr std::int16_t ether_type = 12;
constexpr std::int16_t ip_version = 14;
constexpr std::int16_t ip_protocol = 23;
constexpr std::int16_t udp_destination = 36;
constexpr std::int32_t headers = 42;
constexpr std::int32_t ipv4_without_options = 0x45;

constexpr std::uint8_t add_constant = BPF_ALU64 | BPF_ADD;  // BPF_K is 0
constexpr std::uint8_t load_map = BPF_LD | BPF_DW;          // BPF_IMM is 0

using Instruction = bpf_insn;

/// Registers are bit fields of four bits.
Instruction instruction(std::uint8_t code, unsigned to, unsigned from, std::int16_t offset,
                        std::int32_t value) {
  Instruction written{};
  written.code = code;
  written.dst_reg = to & 0xfU;
  written.src_reg = from & 0xfU;
  written.off = offset;
  written.imm = value;
  return written;
}

Instruction load(std::uint8_t size, unsigned to, unsigned from, std::int16_t offset) {
  return instruction(BPF_LDX | BPF_MEM | size, to, from, offset, 0);
}

Instruction copy(unsigned to, unsigned from) {
  return instruction(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

Instruction set(unsigned to, std::int32_t value) {
  return instruction(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}

Instruction unless_equal(unsigned field, std::int32_t constant, std::int16_t skip) {
  return instruction(BPF_JMP | BPF_JNE | BPF_K, field, 0, skip, constant);
}

Instruction end_here() {
  return instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/// Frames of UDP to `port` go to the socket of their queue in `map`; all others pass.
std::array<Instruction, 22> filter(int map, std::uint16_t port) {
  constexpr unsigned context = BPF_REG_6;
  constexpr unsigned frame = BPF_REG_2;
  constexpr unsigned end = BPF_REG_3;
  constexpr unsigned field = BPF_REG_4;
  constexpr std::int16_t last = 20;  // the instruction that lets a frame pass
  const auto to_last = [](std::int16_t from) { return static_cast<std::int16_t>(last - from - 1); };
  return {{
      copy(context, BPF_REG_1),                             // 0
      load(BPF_W, frame, context, offsetof(xdp_md, data)),  // 1
      load(BPF_W, end, context, offsetof(xdp_md, data_end)),
      copy(field, frame),  // 3
      instruction(add_constant, field, 0, 0, headers),
      instruction(BPF_JMP | BPF_JGT | BPF_X, field, end, to_last(5), 0),
      load(BPF_H, field, frame, ether_type),  // 6
      unless_equal(field, htons(ETH_P_IP), to_last(7)),
      load(BPF_B, field, frame, ip_version),  // 8
      unless_equal(field, ipv4_without_options, to_last(9)),
      load(BPF_B, field, frame, ip_protocol),  // 10
      unless_equal(field, IPPROTO_UDP, to_last(11)),
      load(BPF_H, field, frame, udp_destination),  // 12
      unless_equal(field, htons(port), to_last(13)),
      load(BPF_W, BPF_REG_2, context, offsetof(xdp_md, rx_queue_index)),  // 14
      instruction(load_map, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),        // 15 and 16
      {},
      set(BPF_REG_3, XDP_PASS),  // 17: where the queue has no socket
      instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map),
      end_here(),
      set(BPF_REG_0, XDP_PASS),  // 20
      end_here(),
  }};
}

int bpf(bpf_cmd command, bpf_attr& attributes) {
  return static_cast<int>(syscall(SYS_bpf, command, &attributes, sizeof(attributes)));
}

}  // namespace

void fail_of_xdp(const char* step, int error) {
  os::NotGranted reason{
      .what = std::string{"AF_XDP: "} + step,
      .why = os::error_text(error),
      .fix = "run as root (CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF), or use --transport udp"};
  if (error == EAFNOSUPPORT || error == ENOSYS) {
    reason.why = "this kernel has none (CONFIG_XDP_SOCKETS, CONFIG_BPF_SYSCALL)";
    reason.fix = "use --transport udp, or another kernel";
  } else if (error == EBUSY || error == EEXIST) {
    reason.fix = "end the other program of XDP on this interface (ip link show)";
  }
  throw Failure{reason};
}

XdpFilter::XdpFilter(unsigned interface, std::uint16_t port) {
  try {
    bpf_attr map{};
    map.map_type = BPF_MAP_TYPE_XSKMAP;
    map.key_size = map.value_size = sizeof(std::uint32_t);
    map.max_entries = 1;
    map_ = bpf(BPF_MAP_CREATE, map);
    if (map_ < 0) {
      fail_of_xdp("a map of sockets could not be created", errno);
    }
    const auto instructions = filter(map_, port);
    bpf_attr program{};
    program.prog_type = BPF_PROG_TYPE_XDP;
    program.insns = reinterpret_cast<std::uint64_t>(instructions.data());
    program.insn_cnt = instructions.size();
    program.license = reinterpret_cast<std::uint64_t>("Apache-2.0");
    program_ = bpf(BPF_PROG_LOAD, program);
    if (program_ < 0) {
      fail_of_xdp("the kernel did not load the filter", errno);
    }
    bpf_attr link{};
    link.link_create.prog_fd = static_cast<std::uint32_t>(program_);
    link.link_create.target_ifindex = interface;
    link.link_create.attach_type = BPF_XDP;
    link.link_create.flags = XDP_FLAGS_SKB_MODE;
    link_ = bpf(BPF_LINK_CREATE, link);
    if (link_ < 0) {
      fail_of_xdp("the filter could not be attached to the interface", errno);
    }
  } catch (...) {
    close_all();
    throw;
  }
}

XdpFilter::~XdpFilter() {
  close_all();
}

void XdpFilter::close_all() noexcept {
  for (const int one : {link_, program_, map_}) {
    if (one >= 0) {
      close(one);
    }
  }
}

void XdpFilter::deliver_to(int socket) const {
  const std::uint32_t queue = 0;
  bpf_attr entry{};
  entry.map_fd = static_cast<std::uint32_t>(map_);
  entry.key = reinterpret_cast<std::uint64_t>(&queue);
  entry.value = reinterpret_cast<std::uint64_t>(&socket);
  if (bpf(BPF_MAP_UPDATE_ELEM, entry) != 0) {
    fail_of_xdp("the filter did not take the socket", errno);
  }
}

}  // namespace takt::probe
