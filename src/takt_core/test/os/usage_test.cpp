// SPDX-License-Identifier: Apache-2.0
#include "takt/os/usage.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <thread>

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

TEST(RunDelay, grows_while_another_thread_has_the_core) {
  const auto before = run_delay();
  if (!before) GTEST_SKIP() << "this kernel does not count it";
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  int core = 0;
  while (!CPU_ISSET(core, &own)) ++core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  std::atomic<bool> done{false};
  std::thread rival{[&] {  // on the same core: the affinity is inherited
    while (!done) std::this_thread::yield();
  }};
  const TimePoint latest = now() + 150s;
  while (*run_delay() - *before < 1ms && now() < latest) {
  }
  EXPECT_GE(*run_delay() - *before, 1ms);
  done = true;
  rival.join();
  sched_setaffinity(0, sizeof own, &own);
}

}  // namespace
}  // namespace takt::os
