// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "takt/analysis/analyse.hpp"

namespace takt::analysis {

// Of two verdicts, the one that counts for both.
inline Verdict worse(Verdict a, Verdict b) {
  return std::max(a, b);
}

}  // namespace takt::analysis
