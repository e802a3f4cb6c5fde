// SPDX-License-Identifier: Apache-2.0
#include "robot_arrivals.hpp"

#include <cmath>
#include <cstdint>

#include "../application/robot.hpp"
#include "robot_words.hpp"

namespace takt::analysis {

Arrivals merged(const std::vector<Arrivals>& all) {
  if (all.size() == 1) {
    return all.front();
  }
  double rate = 0;
  auto late = static_cast<double>(all.size() - 1);
  for (const Arrivals& one : all) {
    if (one.period.count() <= 0) {
      return {};
    }
    const auto period = static_cast<double>(one.period.count());
    rate += 1 / period;
    late += static_cast<double>(one.jitter.count()) / period;
  }
  constexpr double rounding = 1e-9;
  const auto period = static_cast<std::int64_t>(std::floor((1 - rounding) / rate));
  if (period < 1) {
    return {};
  }
  const double jitter = std::ceil((1 + rounding) * late / rate) + 1;
  return {.period = nanoseconds{period}, .jitter = nanoseconds{static_cast<std::int64_t>(jitter)}};
}

Arrivals by_clock_of(const application::Application& robot, std::size_t number, std::size_t writer,
                     const Arrivals& there) {
  const application::Link* const link =
      application::find_link(robot, robot.processes[number], robot.processes[writer]);
  if (link == nullptr || link->drift == 0) {
    return there;
  }
  return {.period = faster(there.period, link->drift),
          .jitter = slower(there.jitter, link->drift),
          .distance = faster(there.distance, link->drift)};
}

}  // namespace takt::analysis
