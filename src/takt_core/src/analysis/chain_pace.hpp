// SPDX-License-Identifier: Apache-2.0
//
// Two chains that advance at the same time (docs/reference/analysis.md, eq. 46). Where the cores of
// a path run only its own jobs and those of another chain, one of the two computes for each
// nanosecond that the other one does while it does not wait. So from the first time that the other
// chain's instance delays the path to the last one, the path gets on, too.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "chain_paths.hpp"

namespace takt::analysis {

// The most by which instances of another root delay the path, each of them, if no other instance of
// the path's own root exists. `path` from its root on. Nothing: not known, or too much effort.
std::optional<nanoseconds> most_at_its_pace(const ChainNet& net, std::span<const std::size_t> path,
                                            std::size_t root, Effort& effort);

}  // namespace takt::analysis
