// SPDX-License-Identifier: Apache-2.0
#include "metrics.hpp"

namespace takt::sim {

Distribution Times::distribution() const {
  if (histogram_) {
    Distribution result{.count = histogram_->count(), .has_percentiles = true};
    if (result.count > 0) {
      result.min = histogram_->min();
      result.max = histogram_->max();
      result.mean = histogram_->mean();
      std::ranges::transform(percentiles, result.at.begin(),
                             [&](double percent) { return histogram_->percentile(percent); });
    }
    return result;
  }
  Distribution result{.count = count_};
  if (count_ > 0) {
    result.min = min_;
    result.max = max_;
    result.mean = static_cast<double>(sum_) / static_cast<double>(count_);
  }
  return result;
}

}  // namespace takt::sim
