// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/conditions.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>

#include "takt/os/memory.hpp"

namespace takt::probe {
namespace {

constexpr std::size_t prefaulted_stack_bytes = std::size_t{256} * 1024;

}  // namespace

NoDeepIdle::NoDeepIdle(os::Shortfalls& shortfalls)
    : file_{open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC)} {
  const std::int32_t microseconds = 0;
  if (file_ >= 0 && write(file_, &microseconds, sizeof(microseconds)) == sizeof(microseconds)) {
    return;
  }
  shortfalls.push_back({.what = "deep idle states held off",
                        .why = "/dev/cpu_dma_latency: " + os::error_text(errno),
                        .fix = "run as root, or give your user write access to that file; in a "
                               "container add --device=/dev/cpu_dma_latency"});
  if (file_ >= 0) {
    close(file_);
    file_ = -1;
  }
}

NoDeepIdle::~NoDeepIdle() {
  if (file_ >= 0) {
    close(file_);
  }
}

std::vector<int> cpus_of(const Options& options, Role role) {
  if (role == Role::both || options.cpus.empty()) {
    return options.cpus;
  }
  const bool first = role == Role::ping || role == Role::publisher;
  return {first ? options.cpus.front() : options.cpus.back()};
}

os::ThreadSettings settings_of(const Options& options, Role role) {
  return {.policy = options.policy,
          .priority = options.priority,
          .cpus = cpus_of(options, role),
          .name = {}};
}

os::Shortfalls enter_role(const Options& options, Role role) {
  os::Shortfalls shortfalls = os::apply(settings_of(options, role));
  if (options.real_time()) {
    std::ranges::move(os::prefault_stack(prefaulted_stack_bytes), std::back_inserter(shortfalls));
  }
  return shortfalls;
}

Obtained read_back() {
  return {.thread = os::current_thread(),
          .timer_slack = os::timer_slack(),
          .rr_interval = os::rr_interval(),
          .threads = os::process_threads()};
}

}  // namespace takt::probe
