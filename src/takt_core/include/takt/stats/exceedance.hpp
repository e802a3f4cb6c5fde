// SPDX-License-Identifier: Apache-2.0
/// @file
/// The probability that a deadline is exceeded. If k of n samples exceed it, k/n is the estimate,
/// but "none of 1,000" does not mean "never". The upper bound is that of Clopper and Pearson (The
/// use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26,
/// 1934): the probability p at which k or fewer of n occur only in a fraction 1 - confidence of all
/// runs. For independent samples it never claims more than its confidence, for any n and p.
#pragma once

#include <cstdint>

#include "takt/visibility.hpp"

namespace takt::stats {

/// Estimate and bound of an exceedance probability.
struct Exceedance {
  double probability;  ///< exceeded / count.
  double upper_bound;  ///< One-sided, 0..1; 1 if all samples exceeded.
};

/// Computes the estimate and the one-sided upper bound of Clopper and Pearson (1934). The relative
/// error of the bound is below 1e-9 for counts up to 1e9.
/// @param exceeded how many samples were above the deadline.
/// @param count how many samples there are.
/// @param confidence above 0 and below 1.
/// @throws std::invalid_argument unless exceeded <= count, count > 0 and 0 < confidence < 1.
TAKT_CORE_PUBLIC Exceedance exceedance(std::uint64_t exceeded, std::uint64_t count,
                                       double confidence = 0.95);

}  // namespace takt::stats
