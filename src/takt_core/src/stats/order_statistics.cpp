// SPDX-License-Identifier: Apache-2.0
#include "takt/stats/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "takt/stats/int128.hpp"

namespace takt::stats {
namespace {

// a - b, exact before it is rounded once.
double difference(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<double>(static_cast<Int128>(a) - b);
}

// Squares are summed around the mean, in blocks: both keep rounding errors from piling up.
double standard_deviation(std::span<const std::int64_t> values, Int128 sum) noexcept {
  constexpr std::size_t block = 4096;
  const auto count = static_cast<Int128>(values.size());
  const auto centre = static_cast<std::int64_t>(sum / count);
  const double rest =
      static_cast<double>(sum - count * centre) / static_cast<double>(values.size());
  double squares = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += block) {
    double partial = 0;
    for (const std::int64_t value : values.subspan(begin, std::min(block, values.size() - begin))) {
      const double deviation = difference(value, centre) - rest;
      partial += deviation * deviation;
    }
    squares += partial;
  }
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// Brings the values of the given ascending ranks to their places, as a sort would. Halving the
// ranks, not the values, keeps the cost at one pass for each doubling of their number.
using Iterator = std::vector<std::int64_t>::iterator;
void select(Iterator values, std::ptrdiff_t begin, std::ptrdiff_t end,
            std::span<const std::ptrdiff_t> ranks) {
  if (ranks.empty()) {
    return;
  }
  const std::size_t half = ranks.size() / 2;
  const std::ptrdiff_t middle = ranks[half];
  std::nth_element(values + begin, values + middle, values + end);
  select(values, begin, middle, ranks.first(half));
  select(values, middle + 1, end, ranks.subspan(half + 1));
}

double interpolate(std::int64_t below, std::int64_t above, double fraction) noexcept {
  // From the nearer end, so that a fraction close to 1 gives `above` and nothing beyond it.
  const double distance = difference(above, below);
  return fraction < 0.5 ? static_cast<double>(below) + distance * fraction
                        : static_cast<double>(above) - distance * (1 - fraction);
}

std::vector<double> exact_percentiles(std::span<const std::int64_t> values,
                                      std::span<const double> percentiles) {
  const auto last = static_cast<double>(values.size() - 1);
  const auto last_rank = static_cast<std::ptrdiff_t>(values.size() - 1);
  std::vector<std::ptrdiff_t> ranks;
  for (const double percentile : percentiles) {
    if (!(percentile >= 0 && percentile <= 100)) {
      throw std::invalid_argument{"a percentile must be between 0 and 100, not " +
                                  std::to_string(percentile)};
    }
    const auto rank = static_cast<std::ptrdiff_t>(percentile / 100 * last);
    ranks.push_back(rank);
    ranks.push_back(std::min(rank + 1, last_rank));
  }
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());

  std::vector<std::int64_t> ordered{values.begin(), values.end()};
  select(ordered.begin(), 0, last_rank + 1, ranks);

  std::vector<double> results;
  results.reserve(percentiles.size());
  for (const double percentile : percentiles) {
    const double position = percentile / 100 * last;
    const auto rank = static_cast<std::size_t>(position);
    results.push_back(interpolate(ordered[rank], ordered[std::min(rank + 1, values.size() - 1)],
                                  position - std::floor(position)));
  }
  return results;
}

}  // namespace

OrderStatistics order_statistics(std::span<const std::int64_t> values,
                                 std::span<const double> percentiles) {
  if (values.empty()) {
    throw std::invalid_argument{"there are no values"};
  }
  Int128 sum = 0;
  std::int64_t min = values.front();
  std::int64_t max = values.front();
  for (const std::int64_t value : values) {
    sum += value;
    min = std::min(min, value);
    max = std::max(max, value);
  }
  return {.count = values.size(),
          .min = min,
          .max = max,
          .mean = static_cast<double>(sum) / static_cast<double>(values.size()),
          .stddev = standard_deviation(values, sum),
          .percentiles = exact_percentiles(values, percentiles)};
}

}  // namespace takt::stats
