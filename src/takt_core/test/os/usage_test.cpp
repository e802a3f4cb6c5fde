// SPDX-License-Identifier: Apache-2.0
#include "takt/os/usage.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/sanitizer.hpp"
#include "takt/os/clock.hpp"

namespace takt::os {
namespace {

using namespace std::chrono_literals;

TEST(ResourceUsage, counts_the_first_touch_of_a_page) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  constexpr std::size_t pages = 64;
  void* memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  const ResourceUsage before = resource_usage(UsageOf::thread);
  for (std::size_t index = 0; index < pages; ++index) {
    static_cast<volatile char*>(memory)[index * page] = 1;
  }
  EXPECT_GE((resource_usage(UsageOf::thread) - before).minor_faults, 1);
  munmap(memory, pages * page);
}

TEST(ResourceUsage, counts_a_sleep_as_a_voluntary_switch) {
  const ResourceUsage before = resource_usage(UsageOf::thread);
  sleep_until(now() + 1ms);
  EXPECT_GE((resource_usage(UsageOf::thread) - before).voluntary_switches, 1);
}

TEST(ResourceUsage, cpu_time_grows_with_work) {
  const ResourceUsage before = resource_usage(UsageOf::thread);
  ResourceUsage after = before;
  while (after.cpu_time <= before.cpu_time) {
    after = resource_usage(UsageOf::thread);
  }
  EXPECT_GT((after - before).cpu_time, 0ns);
}

TEST(ResourceUsage, of_the_process_contains_that_of_the_thread) {
  const ResourceUsage thread = resource_usage(UsageOf::thread);
  const ResourceUsage process = resource_usage(UsageOf::process);
  EXPECT_GE(process.minor_faults, thread.minor_faults);
  EXPECT_GE(process.cpu_time, thread.cpu_time);
}

TEST(ResourceUsage, differs_from_itself_by_nothing) {
  const ResourceUsage usage = resource_usage(UsageOf::process);
  EXPECT_EQ(usage - usage, ResourceUsage{});
}

}  // namespace
}  // namespace takt::os
