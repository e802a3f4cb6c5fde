// SPDX-License-Identifier: Apache-2.0
//
// Loads whose jobs may be boosted to the level of a reader that needs their data. For a demand
// between the two levels, all of them count as above it, boosted or not; and a boosted job may have
// been released long before, while the demand's busy period begins with the boost. So its releases
// reach the demand with a jitter: the time that it may have waited, as for jobs that suspend
// themselves (suspension.hpp).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

bool anyone_boosted(std::span<const Demand> demands) noexcept;

// How long jobs may have waited when they are boosted, by demand; none: no bound.
using Waited = std::vector<std::optional<nanoseconds>>;

// Derived from the bound of its response, and from how many of its jobs may be pending at once.
std::optional<nanoseconds> waited(const Demand& demand, const Response& response) noexcept;

// The demands as they interfere with one of them; nothing if there is no bound.
std::optional<std::vector<Demand>> with_boosts(std::span<const Demand> demands, std::size_t own,
                                               const Waited& waited);

}  // namespace takt::analysis
