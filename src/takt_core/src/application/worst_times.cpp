// SPDX-License-Identifier: Apache-2.0
#include "worst_times.hpp"

#include <algorithm>
#include <cstdint>

namespace takt::application {

void set_worst(ExecutionTime& execution, nanoseconds worst) {
  if (worst != execution.worst && execution.worst.count() > 0) {
    const double factor =
        static_cast<double>(worst.count()) / static_cast<double>(execution.worst.count());
    const auto change = [factor](nanoseconds& time) {
      time = nanoseconds{static_cast<std::int64_t>(static_cast<double>(time.count()) * factor)};
    };
    change(execution.best);
    std::ranges::for_each(execution.quantiles, change);
  }
  execution.best = std::min(execution.best, worst);
  execution.worst = worst;
}

}  // namespace takt::application
