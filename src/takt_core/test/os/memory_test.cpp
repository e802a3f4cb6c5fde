// SPDX-License-Identifier: Apache-2.0
#include "takt/os/memory.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "os/child.hpp"
#include "os/sanitizer.hpp"
#include "takt/os/thread.hpp"
#include "takt/os/usage.hpp"

namespace takt::os {
namespace {

constexpr std::size_t kib = 1024;

[[gnu::noinline]] void use_stack() {
  std::array<volatile char, 128 * kib> block;
  for (std::size_t offset = 0; offset < block.size(); offset += kib) {
    block[offset] = 1;
  }
}

TEST(PrefaultStack, makes_later_use_free_of_page_faults) {
  if (test::sanitized) {
    GTEST_SKIP() << "sanitizers touch memory of their own";
  }
  std::int64_t cold = -1;
  std::int64_t warm = -1;
  const auto faults = [] {
    const ResourceUsage before = resource_usage(UsageOf::thread);
    use_stack();
    return (resource_usage(UsageOf::thread) - before).minor_faults;
  };
  Thread{{}, [&] { cold = faults(); }}.join();
  Thread{{},
         [&] {
           EXPECT_TRUE(prefault_stack(256 * kib).empty());
           warm = faults();
         }}
      .join();
  EXPECT_EQ(warm, 0);
  EXPECT_GE(cold, 0);
}

TEST(PrefaultStack, beyond_the_end_of_the_stack_is_not_granted_and_no_crash) {
  Thread{{},
         [] {
           const SettingsNotGranted not_granted = prefault_stack(std::size_t{1} << 40);
           ASSERT_EQ(not_granted.size(), 1U);
           EXPECT_NE(not_granted.front().why.find("bytes of stack are left"), std::string::npos);
         }}
      .join();
}

TEST(PrefaultStack, of_nothing_does_nothing) {
  EXPECT_TRUE(prefault_stack(0).empty());
}

TEST(LockMemory, locks_or_says_why_not) {
  if (test::sanitized) {
    GTEST_SKIP() << "sanitizers turn mlockall into nothing";
  }
  const SettingsNotGranted not_granted = lock_memory();
  EXPECT_EQ(memory_locked(), not_granted.empty());
}

// Pages of a mapping that are in memory.
std::size_t resident(const void* begin, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages(bytes / page);
  if (mincore(const_cast<void*>(begin), bytes, pages.data()) != 0) {
    return 0;
  }
  return static_cast<std::size_t>(
      std::ranges::count_if(pages, [](unsigned char one) { return (one & 1U) != 0; }));
}

struct Mapped {
  explicit Mapped(std::size_t size)
      : bytes{size},
        begin{mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)} {}
  ~Mapped() { munmap(begin, bytes); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  std::size_t bytes;
  void* begin;
};

constexpr std::size_t mib = kib * kib;

// Codes: the first expectation that did not hold.
TEST(LockMemory, takes_what_is_mapped_and_of_stacks_only_what_is_in_use) {
  if (test::sanitized) {
    GTEST_SKIP() << "sanitizers turn mlockall into nothing";
  }
  const int code = test::in_child([] {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const Mapped before{4 * mib};
    if (!lock_memory().empty()) {
      return 100;
    }
    if (resident(before.begin, before.bytes) != before.bytes / page) {
      return 1;
    }
    const Mapped later{4 * mib};
    const auto block = std::make_unique_for_overwrite<char[]>(4 * mib);  // of the heap
    const auto first =
        (reinterpret_cast<std::uintptr_t>(block.get()) + 2 * mib) / page * page;  // behind its top
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a page of the block
    const auto* const inside = reinterpret_cast<const void*>(first);
    if (resident(later.begin, later.bytes) + resident(inside, mib) != 0) {
      return 2;
    }
    std::size_t of_stack = 0;
    std::size_t whole = 0;
    // Not of this library: as those of a middleware are.
    std::thread other{[&] {
      pthread_attr_t attributes;
      pthread_getattr_np(pthread_self(), &attributes);
      void* lowest = nullptr;
      std::size_t size = 0;
      pthread_attr_getstack(&attributes, &lowest, &size);
      pthread_attr_destroy(&attributes);
      populate_memory();
      of_stack = resident(lowest, size);
      whole = size / page;
    }};
    other.join();
    if (of_stack == 0 || of_stack > whole / 4) {
      return 3;
    }
    if (resident(inside, mib) != mib / page) {
      return 4;
    }
    if (dlopen("libthread_db.so.1", RTLD_NOW) != nullptr) {  // of the C library, in no program
      populate_memory();
      if (resident(later.begin, later.bytes) != later.bytes / page) {
        return 6;
      }
    }
    std::int64_t faults = -1;
    Thread{{.prefaulted_stack = 4 * kib},
           [&] {
             const ResourceUsage begin = resource_usage(UsageOf::thread);
             use_stack();
             faults = (resource_usage(UsageOf::thread) - begin).minor_faults;
           }}
        .join();
    return faults == 0 ? 0 : 5;
  });
  if (code == 100) {
    GTEST_SKIP() << "memory cannot be locked here";
  }
  EXPECT_EQ(code, 0);
}

TEST(LockMemory, under_a_finite_limit_is_not_granted_and_the_stack_can_still_grow) {
  const int code = test::in_child([] {
    const rlimit limit{.rlim_cur = 256 * kib, .rlim_max = 256 * kib};
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
      return 1;
    }
    constexpr uid_t nobody = 65534;
    if (geteuid() == 0 && setresuid(nobody, nobody, nobody) != 0) {  // drops the capabilities
      return 2;
    }
    const SettingsNotGranted not_granted = lock_memory();
    if (not_granted.size() != 1 || not_granted.front().why.find("262144") == std::string::npos) {
      return 3;
    }
    prefault_stack(2 * kib * kib);
    return 0;
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace takt::os
