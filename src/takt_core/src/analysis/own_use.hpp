// SPDX-License-Identifier: Apache-2.0
//
// How much of its core a process uses itself (docs/reference/analysis.md, eq. 40 and 41): the
// kernel throttles only who has used up a whole budget within one of its periods.
#pragma once

#include <optional>
#include <span>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// Jobs of one stream.
struct Use {
  Arrivals noticed = {};
  nanoseconds execution{0};
};

// The longest time in which the core is busy with them. Nothing: no bound is known, or it is too
// much to compute.
std::optional<nanoseconds> longest_busy(std::span<const Use> own, std::span<const Use> above);

// The most that `own` jobs compute in any window of this length, where nothing but `above` keeps
// them from the core. Nothing: no bound is known, or it is too much to compute.
std::optional<nanoseconds> most_used(std::span<const Use> own, std::span<const Use> above,
                                     nanoseconds window);

}  // namespace takt::analysis
