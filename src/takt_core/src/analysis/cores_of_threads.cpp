// SPDX-License-Identifier: Apache-2.0
#include "cores_of_threads.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "takt/analysis/supply.hpp"

namespace takt::analysis {
namespace {

using application::Core;

// Each core provides rate (t - delay) at least (Mok, Feng & Chen 2001), so all provide it at once
// for at least t - sum(t - rate (t - delay)).
void add_supplies(Core& all, std::span<const Core> cores) {
  constexpr std::int64_t whole = application::Supply::whole;
  std::int64_t left = whole;
  double missing = 0;  // in nanoseconds
  for (const Core& core : cores) {
    if (core.supply) {
      const Supply supply{core};
      const auto rate = static_cast<std::int64_t>(supply.rate() * static_cast<double>(whole));
      left -= whole - std::max<std::int64_t>(rate - 1, 0);
      missing += static_cast<double>(supply.delay().count());
    }
  }
  if (left <= 0) {
    all.interrupts.push_back({.duration = nanoseconds{1}});  // as often as they like
    return;
  }
  const double delay = missing * static_cast<double>(whole) / static_cast<double>(left);
  all.supply = {.rate = left,
                .delay = nanoseconds{static_cast<std::int64_t>(std::ceil(delay)) + 1}};
}

}  // namespace

Core together(std::span<const Core> cores) {
  if (cores.size() == 1) {
    return cores.front();
  }
  Core all;
  std::int64_t supplies = 0;
  for (const Core& core : cores) {
    all.latency = std::max(all.latency, core.latency);
    all.interrupts.insert(all.interrupts.end(), core.interrupts.begin(), core.interrupts.end());
    if (core.supply) {
      all.supply = core.supply;
      ++supplies;
    }
  }
  if (supplies > 1) {
    add_supplies(all, cores);
  }
  return all;
}

}  // namespace takt::analysis
