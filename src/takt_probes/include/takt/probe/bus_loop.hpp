// SPDX-License-Identifier: Apache-2.0
//
// The measuring loop of a fieldbus master, the same for every stack; as the other loops (roles.hpp)
// it returns when its cycles are done or when a stop is requested.
#pragma once

#include "takt/probe/bus.hpp"
#include "takt/probe/roles.hpp"

namespace takt::probe {

/// So many cycles lost in a row are a segment that does not answer any more.
inline constexpr int most_lost_in_a_row = 3;

/// Exchanges process data once a period. A cycle whose start time has passed, because the one
/// before it came back late, starts at once.
Outcome bus_cycles(const Bench& bench, Bus& bus);

}  // namespace takt::probe
