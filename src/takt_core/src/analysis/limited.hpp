// SPDX-License-Identifier: Apache-2.0
//
// One bound must not use up the effort for all others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// Enough for hundreds of callbacks on a core.
inline constexpr std::int64_t most_steps_of_one = 300'000;

// What `find` finds, or nothing if it needs more than its share.
inline auto limited(Effort& effort, auto find) {
  using Found = decltype(find(effort));
  if (effort.steps <= 0) {
    return Found{};
  }
  Effort part{.steps = std::min(effort.steps, most_steps_of_one)};
  const std::int64_t given = part.steps;
  const Found found = find(part);
  effort.steps -= given - std::max<std::int64_t>(0, part.steps);
  return part.steps > 0 ? found : Found{};
}

}  // namespace takt::analysis
