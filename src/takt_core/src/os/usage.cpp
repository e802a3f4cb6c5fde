// SPDX-License-Identifier: Apache-2.0
#include "takt/os/usage.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <ctime>

namespace takt::os {
namespace {

// Three numbers: ns on a core, ns of waiting for one, number of stretches on a core.
class OwnSchedstat {
 public:
  OwnSchedstat() noexcept : file_{::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)} {}
  ~OwnSchedstat() {
    if (file_ >= 0) {
      ::close(file_);
    }
  }
  OwnSchedstat(const OwnSchedstat&) = delete;
  OwnSchedstat& operator=(const OwnSchedstat&) = delete;
  OwnSchedstat(OwnSchedstat&&) = delete;
  OwnSchedstat& operator=(OwnSchedstat&&) = delete;

  [[nodiscard]] std::optional<std::chrono::nanoseconds> waited() const noexcept {
    std::array<char, 80> text{};
    const ssize_t size = file_ < 0 ? 0 : ::pread(file_, text.data(), text.size(), 0);
    const char* const end = text.data() + (size > 0 ? size : 0);
    std::int64_t value = 0;
    auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || rest == end) {
      return {};
    }
    error = std::from_chars(rest + 1, end, value).ec;
    if (error != std::errc{}) {
      return {};
    }
    return std::chrono::nanoseconds{value};
  }

 private:
  int file_;
};

}  // namespace

std::optional<std::chrono::nanoseconds> run_delay() noexcept {
  thread_local const OwnSchedstat schedstat;
  return schedstat.waited();
}

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
