// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/load.hpp"

#include <numeric>

namespace takt::analysis {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-use-enum-class): no enum; the compiler's 128-bit integer
__extension__ using Wide = __int128;

}  // namespace

bool overloaded(std::span<const Load> loads) noexcept {
  constexpr double near = 1e-9;
  double sum = 0;
  for (const Load& load : loads) {
    sum += utilisation(load);
  }
  if (sum < 1 - near) {
    return false;
  }
  if (!(sum <= 1 + near)) {
    return true;
  }
  // sum = whole / parts, exactly, while it fits.
  constexpr Wide limit = Wide{1} << 62;
  Wide whole = 0;
  Wide parts = 1;
  for (const Load& load : loads) {
    const std::int64_t execution = load.execution.count();
    const std::int64_t period = load.releases.period.count();
    const std::int64_t common = std::gcd(static_cast<std::int64_t>(parts), period);
    const Wide factor = period / common;
    if (parts > limit / factor) {
      return sum > 1 - 1e-12;
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
  return whole > parts;
}

}  // namespace takt::analysis
