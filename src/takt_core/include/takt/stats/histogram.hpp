// SPDX-License-Identifier: Apache-2.0
/// @file
/// A log-linear histogram: each power of two is divided into 128 buckets of equal width. Over the
/// whole range of int64 nanoseconds the width of a bucket is at most 1/128 = 0.8 % of its values,
/// so nothing overflows, and values below 256 ns are exact. Negative values (jitter is signed) have
/// the same buckets, mirrored. The memory, 116 KiB, is fixed and allocated at construction. Count,
/// minimum, maximum and sum are exact.
#pragma once

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "takt/stats/int128.hpp"
#include "takt/visibility.hpp"

namespace takt::stats {

/// Distribution of durations. Not thread-safe; record() is constant time and allocates nothing.
class TAKT_CORE_PUBLIC Histogram {
 public:
  /// A range of values, half open: lower <= value < upper. Only in the bucket of the largest int64
  /// `upper` equals that value and is included.
  struct Bucket {
    std::chrono::nanoseconds lower;  ///< Inclusive.
    std::chrono::nanoseconds upper;  ///< Exclusive.
    std::uint64_t count;             ///< Values in this bucket.
  };

  /// An empty histogram. Allocates 116 KiB.
  Histogram() : counts_(2 * magnitudes) {}

  /// Adds one value. Real-time safe.
  void record(std::chrono::nanoseconds value) noexcept {
    const std::int64_t ns = value.count();
    ++counts_[slot_of(ns)];
    ++count_;
    sum_ += ns;
    min_ = ns < min_ ? ns : min_;
    max_ = ns > max_ ? ns : max_;
  }

  /// Adds all values of `other`, as if they had been recorded here.
  void merge(const Histogram& other) noexcept;

  /// How many values were recorded.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  /// The exact sum in nanoseconds.
  [[nodiscard]] Int128 sum() const noexcept { return sum_; }

  /// The smallest value, exact.
  /// @throws std::invalid_argument if the histogram is empty.
  [[nodiscard]] std::chrono::nanoseconds min() const;

  /// The largest value, exact.
  /// @throws std::invalid_argument if the histogram is empty.
  [[nodiscard]] std::chrono::nanoseconds max() const;

  /// The arithmetic mean in nanoseconds, exact but for rounding.
  /// @throws std::invalid_argument if the histogram is empty.
  [[nodiscard]] double mean() const;

  /// The value of nearest rank, ceil(percent / 100 * count), within 1 %: the middle of its bucket,
  /// limited to minimum and maximum. 0 and 100 return these exactly.
  /// @param percent 0..100.
  /// @throws std::invalid_argument for a percent outside of 0..100 or an empty histogram.
  [[nodiscard]] std::chrono::nanoseconds percentile(double percent) const;

  /// The buckets that are not empty, in ascending order.
  [[nodiscard]] std::vector<Bucket> buckets() const;

 private:
  static constexpr int sub_bits = 7;
  static constexpr std::size_t sub_buckets = std::size_t{1} << sub_bits;
  // Shifts 0..56 bring every magnitude up to 2^63 below 2 * sub_buckets.
  static constexpr std::size_t magnitudes = (64 - sub_bits + 1) * sub_buckets;

  static std::size_t slot_of(std::int64_t ns) noexcept {
    if (ns >= 0) {
      return magnitudes + index_of(static_cast<std::uint64_t>(ns));
    }
    return magnitudes - 1 - index_of(-static_cast<std::uint64_t>(ns));
  }
  static std::size_t index_of(std::uint64_t magnitude) noexcept {
    const int width = std::numeric_limits<std::uint64_t>::digits - std::countl_zero(magnitude | 1U);
    const int shift = width > sub_bits + 1 ? width - (sub_bits + 1) : 0;
    return static_cast<std::size_t>(shift) * sub_buckets +
           static_cast<std::size_t>(magnitude >> shift);
  }
  [[nodiscard]] Bucket bucket_at(std::size_t slot) const noexcept;

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  Int128 sum_ = 0;
  std::int64_t min_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace takt::stats
