// SPDX-License-Identifier: Apache-2.0
//
// Reproducible test values of every magnitude and both signs, with ties and the ends of the range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace takt::stats::test {

inline std::vector<std::int64_t> random_values(unsigned seed, std::size_t count) {
  std::mt19937_64 generator{seed};
  std::vector<std::int64_t> values;
  while (values.size() < count) {
    const auto bits = generator();
    const auto shift = static_cast<int>(generator() % 64);
    switch (generator() % 16) {
      case 0:
        values.push_back(std::numeric_limits<std::int64_t>::min());
        break;
      case 1:
        values.push_back(std::numeric_limits<std::int64_t>::max());
        break;
      default:
        values.push_back(static_cast<std::int64_t>(bits) >> shift);
    }
  }
  return values;
}

}  // namespace takt::stats::test
