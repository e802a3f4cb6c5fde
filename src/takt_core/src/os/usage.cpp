// SPDX-License-Identifier: Apache-2.0
#include "takt/os/usage.hpp"

#include <sys/resource.h>

#include <ctime>

namespace takt::os {

ResourceUsage operator-(const ResourceUsage& after, const ResourceUsage& before) noexcept {
  return {.minor_faults = after.minor_faults - before.minor_faults,
          .major_faults = after.major_faults - before.major_faults,
          .voluntary_switches = after.voluntary_switches - before.voluntary_switches,
          .involuntary_switches = after.involuntary_switches - before.involuntary_switches,
          .cpu_time = after.cpu_time - before.cpu_time};
}

ResourceUsage resource_usage(UsageOf subject) noexcept {
  const bool thread = subject == UsageOf::thread;
  rusage usage{};
  getrusage(thread ? RUSAGE_THREAD : RUSAGE_SELF, &usage);
  timespec cpu{};  // finer than the microseconds of rusage
  clock_gettime(thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID, &cpu);
  return {.minor_faults = usage.ru_minflt,
          .major_faults = usage.ru_majflt,
          .voluntary_switches = usage.ru_nvcsw,
          .involuntary_switches = usage.ru_nivcsw,
          .cpu_time = std::chrono::seconds{cpu.tv_sec} + std::chrono::nanoseconds{cpu.tv_nsec}};
}

}  // namespace takt::os
