// SPDX-License-Identifier: Apache-2.0
//
// The statistics that accumulate during a simulation, in fixed memory, independent of the number of
// jobs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "takt/sim/result.hpp"
#include "takt/stats/histogram.hpp"
#include "takt/stats/int128.hpp"

namespace takt::sim {

// A series of times.
class Times {
 public:
  explicit Times(bool with_percentiles) {
    if (with_percentiles) {
      histogram_.emplace();
    }
  }

  void record(nanoseconds time) noexcept {
    if (histogram_) {
      histogram_->record(time);  // which sums up by itself
      return;
    }
    ++count_;
    sum_ += time.count();
    min_ = std::min(min_, time);
    max_ = std::max(max_, time);
  }

  [[nodiscard]] Distribution distribution() const;

 private:
  std::uint64_t count_ = 0;
  stats::Int128 sum_ = 0;
  nanoseconds min_ = nanoseconds::max();
  nanoseconds max_ = nanoseconds::min();
  std::optional<stats::Histogram> histogram_;
};

struct CallbackMetrics {
  CallbackMetrics(bool with_percentiles, bool reads)
      : response(with_percentiles),
        start_delay(false),
        data_age(with_percentiles && reads),
        sample_age(with_percentiles && reads) {}

  std::uint64_t releases = 0;
  std::uint64_t skipped = 0;
  std::uint64_t misses = 0;
  std::uint64_t unfinished = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t early_releases = 0;
  std::uint64_t budget_overruns = 0;
  std::uint64_t age_violations = 0;
  std::uint64_t without_data = 0;
  std::uint64_t old_data = 0;
  std::uint64_t overwritten = 0;
  std::uint64_t lost_arrivals = 0;
  nanoseconds computed{0};
  Times response;
  Times start_delay;
  Times data_age;
  Times sample_age;
};

}  // namespace takt::sim
