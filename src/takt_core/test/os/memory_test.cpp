// SPDX-License-Identifier: Apache-2.0
#include "takt/os/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>

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

TEST(PrefaultStack, beyond_the_end_of_the_stack_is_a_shortfall_and_no_crash) {
  Thread{{},
         [] {
           const Shortfalls shortfalls = prefault_stack(std::size_t{1} << 40);
           ASSERT_EQ(shortfalls.size(), 1U);
           EXPECT_NE(shortfalls.front().why.find("bytes of stack are left"), std::string::npos);
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
  const Shortfalls shortfalls = lock_memory();
  EXPECT_EQ(memory_locked(), shortfalls.empty());
}

TEST(LockMemory, under_a_finite_limit_is_a_shortfall_and_the_stack_can_still_grow) {
  const int code = test::in_child([] {
    const rlimit limit{.rlim_cur = 256 * kib, .rlim_max = 256 * kib};
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
      return 1;
    }
    constexpr uid_t nobody = 65534;
    if (geteuid() == 0 && setresuid(nobody, nobody, nobody) != 0) {  // drops the capabilities
      return 2;
    }
    const Shortfalls shortfalls = lock_memory();
    if (shortfalls.size() != 1 || shortfalls.front().why.find("262144") == std::string::npos) {
      return 3;
    }
    prefault_stack(2 * kib * kib);
    return 0;
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace takt::os
