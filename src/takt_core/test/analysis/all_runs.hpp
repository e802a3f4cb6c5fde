// SPDX-License-Identifier: Apache-2.0
//
// What can happen, whatever varies: the oracle for rules that are not preemptive. It shares no code
// with the library.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/oracle.hpp"

namespace takt::analysis {

// All runs of periodic tasks until `end`, whatever their jobs compute and whenever they are
// noticed, tick by tick. For rules that are not preemptive. Ends at the first missed deadline.
Observed observe_all(Rule rule, const std::vector<OracleTask>& tasks, std::int64_t end);

struct OracleStart {
  std::size_t task = 0;
  std::int64_t start = 0;

  bool operator==(const OracleStart&) const = default;
};

// The one of these runs in which the jobs that start one after the other compute for these times,
// and all are noticed at once.
std::vector<OracleStart> observe_one(Rule rule, const std::vector<OracleTask>& tasks,
                                     const std::vector<std::int64_t>& executions);

}  // namespace takt::analysis
