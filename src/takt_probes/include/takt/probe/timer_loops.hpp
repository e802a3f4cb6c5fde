// SPDX-License-Identifier: Apache-2.0
//
// The measuring loops of timers, the same for every stack; as the other loops (roles.hpp) they
// return when their samples are taken or when a stop is requested.
#pragma once

#include "takt/probe/roles.hpp"
#include "takt/probe/timer.hpp"

namespace takt::probe {

/// Starts the timer again and again, each time when it has fired or is given up.
Outcome timer_oneshot(const Bench& bench, Timer& timer);

/// Starts the timer once and follows its expiries.
Outcome timer_cyclic(const Bench& bench, Timer& timer);

}  // namespace takt::probe
