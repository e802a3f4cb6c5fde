// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// These events, unless their jitter is so long that nobody wants a bound: then it has none.
Arrivals unless_piling_up(const Arrivals& events) noexcept;

}  // namespace takt::analysis
