// SPDX-License-Identifier: Apache-2.0
//
// The busy periods of all levels in one pass. No work of a level is complete before that of all
// higher levels: so time only advances from level to level, and each release is counted once, when
// time passes it. All callbacks of one level have one bound, that of fixed_priority.hpp. Demands
// that block others after their start, or whose releases are noticed late, are left out.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// One for each demand, in their order, for demands without suspension and boosting; none: must be
// analysed separately.
std::vector<std::optional<Response>> sweep_levels(std::span<const Demand> demands, Effort& effort,
                                                  const Supply& supply = {});

}  // namespace takt::analysis
