// SPDX-License-Identifier: Apache-2.0
//
// Loads whose jobs may be boosted to the level of a reader that needs their data. For a load
// between the two levels they are above it, every one of them, whether it is boosted or not; and
// one that is boosted may have been released long before, while the load's busy period begins with
// the boost. So its releases reach the load with a jitter: the time for which it may have waited,
// as for jobs that suspend themselves (suspension.hpp).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/load.hpp"

namespace takt::analysis {

bool anyone_boosted(std::span<const Load> loads) noexcept;

// For how long jobs may have waited when they are boosted, by load; none: nobody knows.
using Waited = std::vector<std::optional<nanoseconds>>;

// From the bound of its response, and from how many of its jobs may be there at once.
std::optional<nanoseconds> waited(const Load& load, const Response& response) noexcept;

// The loads as they reach one of them; nothing where there is no bound.
std::optional<std::vector<Load>> seen_boosted(std::span<const Load> loads, std::size_t own,
                                              const Waited& waited);

}  // namespace takt::analysis
