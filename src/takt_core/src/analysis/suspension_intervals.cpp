// SPDX-License-Identifier: Apache-2.0
#include "suspension_intervals.hpp"

#include <algorithm>
#include <vector>

#include "suspension_choice.hpp"

namespace takt::analysis {
namespace {

// A demand above.
struct Above {
  Arrivals noticed;
  nanoseconds execution{0};
  nanoseconds rounding{0};  // of all intervals together
  std::int64_t most = 0;    // jobs in all of them, by the length of each

  // In an interval of length w at most (w + jitter + T - 1) / T jobs, rounded down, and the sum of
  // what is rounded down is at most the sum that is rounded down.
  [[nodiscard]] nanoseconds work(nanoseconds response, nanoseconds ready) const noexcept {
    return std::min({noticed.open(response), (ready + rounding) / noticed.period, most}) *
           execution;
  }
};

// The least t with t >= computes + what those above take in t. None: none up to `most`.
template <class Work>
std::optional<nanoseconds> least_length(nanoseconds computes, const std::vector<Above>& others,
                                        nanoseconds most, Effort& effort, Work work) {
  for (nanoseconds length = computes; length <= most && effort.spend(others.size() + 1);) {
    nanoseconds sum = computes;
    for (const Above& other : others) {
      sum += work(other, length);
    }
    if (sum <= length) {
      return length;
    }
    length = sum;
  }
  return {};
}

}  // namespace

std::optional<nanoseconds> response_by_intervals(std::span<const Demand> demands,
                                                 std::span<const Demand> delayed,
                                                 std::size_t own_index, const Supply& supply,
                                                 Effort& effort) {
  const Demand& own = demands[own_index];
  if (!own.waits || own.suspensions == 0 || !supply.whole()) {
    return {};
  }
  const std::int64_t intervals = own.suspensions + 1;
  const nanoseconds most = least_distance(own) - own.lag - own.suspension;
  std::vector<Above> others;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const Demand& other = delayed[i];
    if (i == own_index || (other.level <= own.level && other.task != own.task)) {
      continue;
    }
    const Arrivals noticed = other.noticed();
    constexpr nanoseconds longest = std::chrono::hours{24};
    if ((other.task == own.task && !other.interrupt) || noticed.period.count() <= 0 ||
        std::max(noticed.period, noticed.jitter) > longest) {
      return {};
    }
    others.push_back({.noticed = noticed,
                      .execution = other.execution,
                      .rounding = intervals * (noticed.jitter + noticed.period - nanoseconds{1})});
  }
  // No interval is longer than one in which all of C is computed.
  const auto longest =
      least_length(own.execution, others, most, effort, [](const Above& other, nanoseconds length) {
        return other.noticed.open(length) * other.execution;
      });
  if (!longest) {
    return {};
  }
  for (Above& other : others) {
    other.most = intervals * other.noticed.open(*longest);
  }
  const auto ready = least_length(own.execution, others, most, effort,
                                  [&](const Above& other, nanoseconds length) {
                                    return other.work(own.suspension + length, length);
                                  });
  return ready ? std::optional{own.lag + own.suspension + *ready} : std::nullopt;
}

}  // namespace takt::analysis
