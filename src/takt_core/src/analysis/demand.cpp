// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/demand.hpp"

#include <compare>
#include <numeric>

namespace takt::analysis {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-use-enum-class): no enum; the compiler's 128-bit integer
__extension__ using Wide = __int128;

// Of the shares of the core together, with what is missing, and the whole of it, which is more.
std::weak_ordering against_whole(std::span<const Demand> demands, const Supply& supply) noexcept {
  constexpr double near = 1e-9;
  double sum = 1 - supply.rate();
  for (const Demand& demand : demands) {
    sum += utilization(demand);
  }
  if (sum < 1 - near) {
    return std::weak_ordering::less;
  }
  if (!(sum <= 1 + near)) {
    return std::weak_ordering::greater;
  }
  if (supply.threads() > 1) {
    return std::weak_ordering::equivalent;
  }
  // sum = whole / parts, exactly, while it fits.
  constexpr Wide limit = Wide{1} << 62;
  Wide whole = supply.missing().count();
  Wide parts = supply.period().count();
  for (const Demand& demand : demands) {
    const std::int64_t execution = demand.execution.count();
    const std::int64_t period = demand.releases.period.count();
    const std::int64_t common = std::gcd(static_cast<std::int64_t>(parts), period);
    const Wide factor = period / common;
    if (parts > limit / factor) {
      return sum > 1 - 1e-12 ? std::weak_ordering::greater : std::weak_ordering::less;
    }
    whole = whole * factor + Wide{execution} * (parts / common);
    parts *= factor;
    const auto shrink =
        std::gcd(static_cast<std::int64_t>(whole % parts), static_cast<std::int64_t>(parts));
    if (shrink > 1) {
      whole /= shrink;
      parts /= shrink;
    }
  }
  if (whole == parts) {
    return std::weak_ordering::equivalent;
  }
  return whole > parts ? std::weak_ordering::greater : std::weak_ordering::less;
}

}  // namespace

bool overloaded(std::span<const Demand> demands, const Supply& supply) noexcept {
  return against_whole(demands, supply) > 0;
}

bool full(std::span<const Demand> demands, const Supply& supply) noexcept {
  return against_whole(demands, supply) >= 0;
}

}  // namespace takt::analysis
