// SPDX-License-Identifier: Apache-2.0
#include "throttling.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>

namespace takt::executor {
namespace {

struct Limit {
  double share = 1;  // none
  std::chrono::microseconds period{0};
};

// Without a stream, which allocates; -1: there is no such number.
std::int64_t number_in(const char* path) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return -1;
  }
  std::array<char, 32> text{};
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + (size > 0 ? size : 0), number);
  return number;
}

Limit read_limit() noexcept {
  const std::int64_t runtime = number_in("/proc/sys/kernel/sched_rt_runtime_us");
  const std::int64_t period = number_in("/proc/sys/kernel/sched_rt_period_us");
  if (runtime < 0 || period <= 0) {
    return {};
  }
  return {.share = static_cast<double>(runtime) / static_cast<double>(period),
          .period = std::chrono::microseconds{period}};
}

}  // namespace

bool Throttling::possible() noexcept {
  return read_limit().share < 1;
}

bool Throttling::reached(std::chrono::nanoseconds used, std::chrono::nanoseconds within,
                         double limit) noexcept {
  constexpr double tolerance = 0.01;
  return within.count() > 0 && static_cast<double>(used.count()) >=
                                   (limit - tolerance) * static_cast<double>(within.count());
}

void Throttling::watch(const std::vector<int>& cpus) {
  before_.reset();
  cores_.clear();
  for (const int cpu : cpus) {
    cores_.push_back({.cpu = cpu});
  }
}

std::optional<os::NotGranted> Throttling::look(const std::vector<std::chrono::nanoseconds>& used,
                                               os::TimePoint now) {
  std::optional<os::NotGranted> result;
  const auto [limit, period] = read_limit();
  // In less than a period of the kernel's a core may be full by right.
  if (before_ && now - *before_ < period) {
    return result;
  }
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    Core& core = cores_[i];
    if (before_ && limit < 1 && !core.reported &&
        reached(used[i] - core.used, now - *before_, limit)) {
      core.reported = true;
      std::array<char, 16> share{};
      std::snprintf(share.data(), share.size(), "%g %%", limit * 100);
      result = os::NotGranted{
          .what = "all of core " + std::to_string(core.cpu) + " for real-time tasks",
          .why = std::string{"they want more than the "} + share.data() +
                 " that the kernel leaves them (sched_rt_runtime_us), so it stops the most urgent "
                 "one, too",
          .fix =
              "let the tasks compute less or on more cores, or allow real-time threads all of "
              "it: sysctl kernel.sched_rt_runtime_us=-1 (a callback that never ends then takes "
              "the core for good)"};
    }
    core.used = used[i];
  }
  before_ = now;
  return result;
}

}  // namespace takt::executor
