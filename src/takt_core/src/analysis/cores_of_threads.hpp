// SPDX-License-Identifier: Apache-2.0
//
// Several cores, each with a thread of one executor of rclcpp, as one: what takes one of the cores
// counts as taking all of them (docs/reference/analysis.md, eq. 33). A thread that looks for what
// is ready keeps the others from looking, also while its own core is away.
#pragma once

#include <span>

#include "takt/application/core.hpp"

namespace takt::analysis {

// All interrupts and the longest latency of these cores. What each of several supplies may be
// missing is missing together, so of such a supply nothing may be left: then it has interrupts that
// come as often as they like.
application::Core together(std::span<const application::Core> cores);

}  // namespace takt::analysis
