// SPDX-License-Identifier: Apache-2.0
//
// Exact statistics of a series that is kept whole, in nanoseconds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace takt::stats {

struct OrderStatistics {
  std::uint64_t count;
  std::int64_t min;
  std::int64_t max;
  double mean;
  // Of the series itself: divided by count, not by count - 1 (ddof 0), so it is 0 for one value.
  double stddev;
  // In the order asked for. With values sorted and numbered from 0, the percentile p stands at
  // p / 100 * (count - 1), linearly interpolated (definition 7 of Hyndman & Fan 1996, numpy's
  // default).
  std::vector<double> percentiles;
};

// Throws std::invalid_argument for an empty series and for a percentile outside of 0..100.
// Allocates a copy of the values; the time grows with count * log(number of percentiles).
OrderStatistics order_statistics(std::span<const std::int64_t> values,
                                 std::span<const double> percentiles);

}  // namespace takt::stats
