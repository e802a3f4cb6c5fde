// SPDX-License-Identifier: Apache-2.0
//
// How often messages of other processes come (docs/reference/analysis.md, eq. 9).
#pragma once

#include <cstddef>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

// One sequence of events for several; period 0: nothing bounds one of them.
Arrivals merged(const std::vector<Arrivals>& all);

// What comes from process `writer`, in the time of the host of process `number`, whose clock may be
// slower.
Arrivals by_clock_of(const application::Application& robot, std::size_t number, std::size_t writer,
                     const Arrivals& there);

}  // namespace takt::analysis
