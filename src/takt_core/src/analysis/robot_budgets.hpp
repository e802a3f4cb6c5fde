// SPDX-License-Identifier: Apache-2.0
//
// Finds the smallest share of a core that a reservation needs, by whole analyses of the robot.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

using Processes = std::vector<application::Process>;

// Whether these processes are as good as wanted.
using Accepts = std::function<bool(const Processes&)>;

// The largest runtime beside the other reservations of its core, in whole steps.
nanoseconds largest_budget(const Processes& processes, std::size_t number);

// With the reservation of one of them whose share of the core is the smallest, with its period, or
// with `shortest`, its half, fourth or eighth; as they are where none is smaller. A step is a
// thousandth of the period. `shortest`: the shortest period of its callbacks; `never`: none.
Processes with_smallest_budget(const Processes& processes, std::size_t number, nanoseconds shortest,
                               const Accepts& accepts);

}  // namespace takt::analysis
