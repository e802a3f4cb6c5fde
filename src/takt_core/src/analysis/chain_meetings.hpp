// SPDX-License-Identifier: Apache-2.0
//
// How much of a chain's instance a path across cores can meet (docs/reference/analysis.md, eq. 38).
// Both go from core to core, and the jobs of the instance follow each other: what delays the path
// at one of its visits comes after what has delayed it before.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// A job of an instance, in the order of the instance's links.
struct Meeting {
  std::size_t before = nobody;    // index of the one whose message releases it
  nanoseconds execution{0};       // 0: it does not delay the path
  bool overlaps = false;          // jobs that its messages release may start before it has ended
  std::vector<bool> visits = {};  // by visit of the path: whether it may run then
};

// The most that jobs of one instance can delay the path by, all together.
nanoseconds most_met(std::span<const Meeting> jobs, std::size_t visits);

}  // namespace takt::analysis
