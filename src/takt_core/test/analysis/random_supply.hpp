// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/random_tasks.hpp"
#include "takt/analysis/supply.hpp"

namespace takt::analysis {

// Half of them whole; most of what remains is a large part of the core.
inline Supply draw_supply(RandomTasks& random) {
  const std::int64_t kind = random.number(0, 3);
  application::Core core;
  if (kind == 1) {
    const std::int64_t period = random.number(2, 30);
    core.supply = application::Supply{.budget = nanoseconds{random.number(1 + period / 2, period)},
                                      .period = nanoseconds{period}};
  } else if (kind == 2) {
    core.supply =
        application::Supply{.rate = random.number(5, 10) * application::Supply::whole / 10,
                            .delay = nanoseconds{random.number(0, 40)}};
  }
  return Supply{core};
}

}  // namespace takt::analysis
