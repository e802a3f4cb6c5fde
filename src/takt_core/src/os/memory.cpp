// SPDX-License-Identifier: Apache-2.0
#include "takt/os/memory.hpp"

#include <alloca.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

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

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of the process
std::atomic<bool> locked{false};  // by lock_memory()

// What populate_memory() did so far. To walk all pages again takes a millisecond: nothing is done
// where the program has loaded nothing since, and its heap has not grown.
struct Populated {
  std::mutex mutex;
  std::uint64_t loads = 0;  // of libraries, counted by the loader
  std::uintptr_t heap_end = 0;
  std::map<std::uintptr_t, std::uintptr_t> ends = {};  // by where a mapping begins
};

Populated& populated() {
  static Populated one;
  return one;
}

std::uint64_t libraries_loaded() {
  std::uint64_t loads = 0;
  const auto first = [](dl_phdr_info* info, std::size_t /*size*/, void* to) {
    *static_cast<std::uint64_t*>(to) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(first, &loads);
  return loads;
}

// All of the calling thread's stack, as mlockall does it without MCL_ONFAULT.
void lock_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return;
  }
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  mlock(lowest, size);
}

// A line of /proc/self/maps.
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool readable = false;
  bool anonymous = false;

  [[nodiscard]] std::size_t size() const { return end - begin; }
};

// "BEGIN-END ACCESS OFFSET DEVICE INODE  NAME", in hexadecimal but for the inode.
std::optional<Mapping> next_mapping(std::istream& maps) {
  std::string line;
  if (!std::getline(maps, line)) {
    return {};
  }
  Mapping found;
  const char* const end = line.data() + line.size();
  const char* at = std::from_chars(line.data(), end, found.begin, 16).ptr;
  at = std::from_chars(at + 1, end, found.end, 16).ptr;
  found.readable = end - at > 1 && at[1] == 'r';
  constexpr int words_before_inode = 4;
  for (int spaces = 0; at != end && spaces < words_before_inode; ++at) {
    spaces += *at == ' ' ? 1 : 0;
  }
  std::uint64_t inode = 0;
  at = std::from_chars(at, end, inode).ptr;
  found.anonymous = inode == 0 && std::find_if(at, end, [](char c) { return c != ' '; }) == end;
  return found;
}

// The C library puts each thread's stack above a guard of one page by default; what malloc reserved
// for an arena is larger.
bool may_guard(const Mapping& one) {
  constexpr std::size_t largest_guard = std::size_t{64} * 1024;
  return one.anonymous && !one.readable && one.size() <= largest_guard;
}

void lock_range(std::uintptr_t begin, std::uintptr_t end) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel writes addresses as numbers
  mlock(reinterpret_cast<const void*>(begin), end - begin);  // what is special refuses
}

// Each mapping that is no stack, as far as `ends` does not have it. What has taken the place of
// another since is taken for it.
void populate_mappings(std::map<std::uintptr_t, std::uintptr_t>& ends) {
  std::map<std::uintptr_t, std::uintptr_t> present;
  std::ifstream maps{"/proc/self/maps"};
  Mapping below;
  while (const auto one = next_mapping(maps)) {
    const bool stack = one->anonymous && below.end == one->begin && may_guard(below);
    if (!stack && one->readable) {
      const auto known = ends.find(one->begin);
      const auto from = known == ends.end() ? one->begin : std::min(known->second, one->end);
      if (from != one->end) {
        lock_range(from, one->end);
      }
      present.emplace_hint(present.end(), one->begin, one->end);
    }
    below = *one;
  }
  ends = std::move(present);
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

SettingsNotGranted lock_memory(Stacks of_others) {
  // NOLINTBEGIN(concurrency-mt-unsafe): belongs to the set-up of the process
  mallopt(M_TRIM_THRESHOLD, -1);  // free() never gives memory back to the kernel,
  mallopt(M_MMAP_MAX, 0);         // and large blocks come from the heap too
  // NOLINTEND(concurrency-mt-unsafe)
  const bool used = of_others == Stacks::used;
  std::string why;
  if (const auto limit = lock_limit()) {
    why = "the limit for locked memory is " + std::to_string(*limit) + " bytes";
  } else if (mlockall(MCL_CURRENT | MCL_FUTURE | (used ? MCL_ONFAULT : 0)) != 0) {
    why = "mlockall: " + error_text(errno);
  } else {
    locked = used;
    {
      Populated& before = populated();
      const std::lock_guard lock{before.mutex};
      before.ends.clear();  // of the parent, in a child
      before.loads = 0;
    }
    populate_memory();
    return {};
  }
  return {{.what = "locked memory",
           .why = why,
           .fix = "run as root, or allow it for your user: the line '<user> - memlock unlimited' "
                  "in /etc/security/limits.d/realtime.conf, then log in again; in a container add "
                  "--cap-add=IPC_LOCK"}};
}

void populate_memory() {
  if (!locked) {
    return;
  }
  Populated& before = populated();
  const std::lock_guard lock{before.mutex};
  const auto heap_end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const std::uint64_t loads = libraries_loaded();
  if (std::exchange(before.loads, loads) != loads) {
    populate_mappings(before.ends);
  } else if (heap_end > before.heap_end) {
    lock_range(before.heap_end, heap_end);
  }
  before.heap_end = heap_end;
}

bool memory_locked() {
  return std::stoull(process_status("VmLck").value_or("0")) > 0;
}

SettingsNotGranted prefault_stack(std::size_t bytes) {
  const std::size_t left = stack_left();
  touch_stack(bytes < left ? bytes : left);
  if (locked) {
    lock_stack();
  }
  if (bytes <= left) {
    return {};
  }
  return {{.what = "prefaulted stack of " + std::to_string(bytes) + " bytes",
           .why = "only " + std::to_string(left) + " bytes of stack are left",
           .fix = "ask for less, or raise the stack's size (ulimit -s) before the start"}};
}

}  // namespace takt::os
