// SPDX-License-Identifier: Apache-2.0
//
// A log-linear histogram: each power of two is divided into 128 buckets of equal width. Every
// bucket is at most 1/128 = 0.8 % as wide as the values in it are large, over the whole range of
// int64 nanoseconds, so nothing ever overflows, and values below 256 ns are exact. Negative values
// (jitter is signed) have the same buckets, mirrored. The memory, 116 KiB, is fixed and allocated
// at construction. Count, minimum, maximum and sum are exact.
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

class TAKT_CORE_PUBLIC Histogram {
 public:
  // Half open: lower <= value < upper. Only the bucket of the largest int64 has upper == that value
  // and contains it.
  struct Bucket {
    std::chrono::nanoseconds lower;
    std::chrono::nanoseconds upper;
    std::uint64_t count;
  };

  Histogram() : counts_(2 * magnitudes) {}

  void record(std::chrono::nanoseconds value) noexcept {
    const std::int64_t ns = value.count();
    ++counts_[slot_of(ns)];
    ++count_;
    sum_ += ns;
    min_ = ns < min_ ? ns : min_;
    max_ = ns > max_ ? ns : max_;
  }

  // Adds all values of `other`, as if they had been recorded here.
  void merge(const Histogram& other) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] Int128 sum() const noexcept { return sum_; }  // ns

  // The following throw std::invalid_argument when the histogram is empty.
  [[nodiscard]] std::chrono::nanoseconds min() const;
  [[nodiscard]] std::chrono::nanoseconds max() const;
  [[nodiscard]] double mean() const;  // ns

  // The value of nearest rank, ceil(percent / 100 * count), within 1 %: the middle of its bucket,
  // never beyond minimum and maximum; 0 and 100 give these exactly. Throws std::invalid_argument
  // for a percent outside of 0..100.
  [[nodiscard]] std::chrono::nanoseconds percentile(double percent) const;

  // The buckets that hold something, in ascending order.
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
