// SPDX-License-Identifier: Apache-2.0
//
// How long an executor with several threads runs jobs without a break, whatever their order is. As
// long as a job has been noticed and not ended, at least one thread runs a job. So from a time at
// which there is none, all have ended again by the least L that all work noticed in L fills on one
// thread: no response is longer than L (eq. 22, with the threads as one core).
#pragma once

#include <span>

#include "bounds.hpp"
#include "takt/analysis/demand.hpp"
#include "takt/analysis/supply.hpp"

namespace takt::analysis {

// Nothing: too long, too much to compute, or a job waits, so that nothing may run meanwhile.
Bound longest_until_idle(std::span<const Demand> demands, const Supply& supply, Effort& effort);

}  // namespace takt::analysis
