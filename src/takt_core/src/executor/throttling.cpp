// SPDX-License-Identifier: Apache-2.0
#include "throttling.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

namespace takt::executor {
namespace {

struct Limit {
  double share = 1;  // none
  std::chrono::microseconds period{0};
};

Limit read_limit() {
  std::int64_t runtime = -1;
  std::int64_t period = 0;
  std::ifstream{"/proc/sys/kernel/sched_rt_runtime_us"} >> runtime;
  std::ifstream{"/proc/sys/kernel/sched_rt_period_us"} >> period;
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

std::optional<os::NotGranted> Throttling::look(
    const std::map<int, std::chrono::nanoseconds>& cpu_times, os::TimePoint now) {
  std::optional<os::NotGranted> result;
  const auto [limit, period] = read_limit();
  // In less than a period of the kernel's a core may be full by right.
  if (before_ && now - *before_ < period) {
    return result;
  }
  for (const auto& [cpu, used] : cpu_times) {
    const auto before = cpu_times_.find(cpu);
    if (before_ && before != cpu_times_.end() && limit < 1 && !reported_[cpu] &&
        reached(used - before->second, now - *before_, limit)) {
      reported_[cpu] = true;
      std::array<char, 16> share{};
      std::snprintf(share.data(), share.size(), "%g %%", limit * 100);
      result = os::NotGranted{
          .what = "all of core " + std::to_string(cpu) + " for real-time tasks",
          .why = std::string{"they want more than the "} + share.data() +
                 " that the kernel leaves them (sched_rt_runtime_us), so it stops the most urgent "
                 "one, too",
          .fix =
              "let the tasks compute less or on more cores, or allow real-time threads all of "
              "it: sysctl kernel.sched_rt_runtime_us=-1 (a callback that never ends then takes "
              "the core for good)"};
    }
  }
  cpu_times_ = cpu_times;
  before_ = now;
  return result;
}

}  // namespace takt::executor
