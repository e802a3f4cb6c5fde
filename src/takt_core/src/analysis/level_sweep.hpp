// SPDX-License-Identifier: Apache-2.0
//
// The busy periods of all levels in one pass. Nothing of a level is done before all levels above it
// are: so time only goes forwards on the way down, and each release is counted once, when time has
// passed it. All callbacks of one level have one bound, that of fixed_priority.hpp. Nothing is said
// about those that keep others out once they have started, or whose releases are noticed late.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// One for each demand, in their order, where nobody waits or is boosted; none: look at it alone.
std::vector<std::optional<Response>> sweep_levels(std::span<const Demand> demands, Effort& effort);

}  // namespace takt::analysis
