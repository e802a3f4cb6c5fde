// SPDX-License-Identifier: Apache-2.0
//
// Loads whose jobs may be boosted to the level of a reader that needs their data. For a demand
// between the two levels they are above it, every one of them, whether it is boosted or not; and
// one that is boosted may have been released long before, while the demand's busy period begins
// with the boost. So its releases reach the demand with a jitter: the time for which it may have
// waited, as for jobs that suspend themselves (suspension.hpp).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

bool anyone_boosted(std::span<const Demand> demands) noexcept;

// For how long jobs may have waited when they are boosted, by demand; none: nobody knows.
using Waited = std::vector<std::optional<nanoseconds>>;

// From the bound of its response, and from how many of its jobs may be there at once.
std::optional<nanoseconds> waited(const Demand& demand, const Response& response) noexcept;

// The demands as they reach one of them; nothing where there is no bound.
std::optional<std::vector<Demand>> seen_boosted(std::span<const Demand> demands, std::size_t own,
                                                const Waited& waited);

}  // namespace takt::analysis
