// SPDX-License-Identifier: Apache-2.0
#include "takt/os/memory.hpp"

#include <alloca.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace takt::os {
namespace {

// The text after `key` in /proc/self/status.
std::optional<std::string> process_status(const std::string& key) {
  std::ifstream file{"/proc/self/status"};
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) {
      return line.substr(key.size() + 1);
    }
  }
  return {};
}

// The limit for locked memory in bytes; nothing when there is none for this process.
std::optional<rlim_t> lock_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur != limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;  // allowed to everybody
    setrlimit(RLIMIT_MEMLOCK, &limit);
  }
  constexpr unsigned capability_ipc_lock = 14;
  const auto capabilities = std::stoull(process_status("CapEff").value_or("0"), nullptr, 16);
  if (limit.rlim_cur == RLIM_INFINITY || ((capabilities >> capability_ipc_lock) & 1U) != 0) {
    return {};
  }
  return limit.rlim_cur;
}

// Bytes between the present frame and the end of the stack, less a reserve for what runs now.
std::size_t stack_left() {
  constexpr std::size_t reserve = std::size_t{64} * 1024;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return 0;
  }
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto end = reinterpret_cast<std::uintptr_t>(lowest) + reserve;
  return here > end ? here - end : 0;
}

[[gnu::noinline]] void touch_stack(std::size_t bytes) {
  if (bytes == 0) {
    return;
  }
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // A block of run-time size below this frame is what is wanted here, and only alloca gives it.
  auto* block = static_cast<volatile unsigned char*>(alloca(bytes));
  for (std::size_t offset = 0; offset < bytes; offset += page) {
    block[bytes - 1 - offset] = 0;  // downwards, as the stack grows
  }
}

}  // namespace

Shortfalls lock_memory() {
  // NOLINTBEGIN(concurrency-mt-unsafe): belongs to the set-up of the process
  mallopt(M_TRIM_THRESHOLD, -1);  // free() never gives memory back to the kernel,
  mallopt(M_MMAP_MAX, 0);         // and large blocks come from the heap too
  // NOLINTEND(concurrency-mt-unsafe)
  std::string why;
  if (const auto limit = lock_limit()) {
    why = "the limit for locked memory is " + std::to_string(*limit) + " bytes";
  } else if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    why = "mlockall: " + error_text(errno);
  } else {
    return {};
  }
  return {{.what = "locked memory",
           .why = why,
           .fix = "run as root, or allow it for your user: the line '<user> - memlock unlimited' "
                  "in /etc/security/limits.d/realtime.conf, then log in again; in a container add "
                  "--cap-add=IPC_LOCK"}};
}

bool memory_locked() {
  return std::stoull(process_status("VmLck").value_or("0")) > 0;
}

Shortfalls prefault_stack(std::size_t bytes) {
  const std::size_t left = stack_left();
  touch_stack(bytes < left ? bytes : left);
  if (bytes <= left) {
    return {};
  }
  return {{.what = "prefaulted stack of " + std::to_string(bytes) + " bytes",
           .why = "only " + std::to_string(left) + " bytes of stack are left",
           .fix = "ask for less, or raise the stack's size (ulimit -s) before the start"}};
}

}  // namespace takt::os
