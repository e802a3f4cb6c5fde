// SPDX-License-Identifier: Apache-2.0
//
// How probable is it that the deadline is exceeded? k of n samples were above it: k/n is the
// estimate, but "none of 1,000" does not mean "never". The upper bound is the one of Clopper &
// Pearson (The use of confidence or fiducial limits illustrated in the case of the binomial,
// Biometrika 26, 1934): the probability p at which k or fewer of n would come up only in a fraction
// 1 - confidence of all runs. It never promises more than its confidence, for any n and p, provided
// that the samples are independent.
#pragma once

#include <cstdint>

#include "takt/visibility.hpp"

namespace takt::stats {

struct Exceedance {
  double probability;  // exceeded / count
  double upper_bound;  // one-sided; 1 when all exceeded
};

// Throws std::invalid_argument unless 0 <= exceeded <= count, 0 < count and 0 < confidence < 1.
// Relative error of the bound below 1e-9 for any count up to 1e9.
TAKT_CORE_PUBLIC Exceedance exceedance(std::uint64_t exceeded, std::uint64_t count,
                                       double confidence = 0.95);

}  // namespace takt::stats
