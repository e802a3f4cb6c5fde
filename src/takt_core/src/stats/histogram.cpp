// SPDX-License-Identifier: Apache-2.0
#include "takt/stats/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace takt::stats {
namespace {

using std::chrono::nanoseconds;

void require_values(std::uint64_t count) {
  if (count == 0) {
    throw std::invalid_argument{"the histogram is empty"};
  }
}

}  // namespace

void Histogram::merge(const Histogram& other) noexcept {
  for (std::size_t slot = 0; slot < counts_.size(); ++slot) {
    counts_[slot] += other.counts_[slot];
  }
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

nanoseconds Histogram::min() const {
  require_values(count_);
  return nanoseconds{min_};
}

nanoseconds Histogram::max() const {
  require_values(count_);
  return nanoseconds{max_};
}

double Histogram::mean() const {
  require_values(count_);
  return static_cast<double>(sum_) / static_cast<double>(count_);
}

nanoseconds Histogram::percentile(double percent) const {
  require_values(count_);
  if (!(percent >= 0 && percent <= 100)) {
    throw std::invalid_argument{"a percentile must be between 0 and 100, not " +
                                std::to_string(percent)};
  }
  const double rank = std::ceil(percent / 100 * static_cast<double>(count_));
  if (rank < 1) {
    return nanoseconds{min_};
  }
  if (percent == 100) {
    return nanoseconds{max_};
  }
  std::uint64_t below = 0;
  for (std::size_t slot = 0; slot < counts_.size(); ++slot) {
    below += counts_[slot];
    if (static_cast<double>(below) >= rank) {
      const Bucket bucket = bucket_at(slot);
      const nanoseconds last = bucket.upper - nanoseconds{1};
      return std::clamp(bucket.lower + (last - bucket.lower) / 2, nanoseconds{min_},
                        nanoseconds{max_});
    }
  }
  return nanoseconds{max_};
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> filled;
  for (std::size_t slot = 0; slot < counts_.size(); ++slot) {
    if (counts_[slot] != 0) {
      filled.push_back(bucket_at(slot));
    }
  }
  return filled;
}

Histogram::Bucket Histogram::bucket_at(std::size_t slot) const noexcept {
  const bool negative = slot < magnitudes;
  const std::size_t index = negative ? magnitudes - 1 - slot : slot - magnitudes;
  // The inverse of index_of: below 2 * sub_buckets the shift is 0 and the index is the magnitude.
  const std::size_t shift = index < 2 * sub_buckets ? 0 : index / sub_buckets - 1;
  const Int128 smallest = static_cast<Int128>(index - shift * sub_buckets) << shift;
  const Int128 end = smallest + (Int128{1} << shift);
  const auto ns = [](Int128 value) {
    constexpr Int128 lowest = std::numeric_limits<std::int64_t>::min();
    constexpr Int128 highest = std::numeric_limits<std::int64_t>::max();
    return nanoseconds{static_cast<std::int64_t>(std::clamp(value, lowest, highest))};
  };
  return {.lower = ns(negative ? 1 - end : smallest),
          .upper = ns(negative ? 1 - smallest : end),
          .count = counts_[slot]};
}

}  // namespace takt::stats
