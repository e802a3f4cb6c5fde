// SPDX-License-Identifier: Apache-2.0
//
// What the bounds along a way of data have in common: a bound that is not there is infinite.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace takt::analysis {

using Bound = std::optional<std::chrono::nanoseconds>;

inline Bound sum(const Bound& a, const Bound& b) {
  return a && b ? Bound{*a + *b} : Bound{};
}

inline Bound least_of(const Bound& a, const Bound& b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

inline bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace takt::analysis
