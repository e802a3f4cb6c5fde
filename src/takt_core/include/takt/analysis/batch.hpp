// SPDX-License-Identifier: Apache-2.0
/// @file
/// Analyses very many sets of plain timers, each on one core, without full descriptions: for
/// campaigns.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "takt/visibility.hpp"

namespace takt::analysis {

/// Columns over the tasks of all sets, one set after the other. Set i has the rows first[i] to
/// first[i + 1]. Times are nanoseconds.
struct Sets {
  std::string_view policy;                 ///< A name of sched::parse_policy().
  std::span<const std::int64_t> first;     ///< First row of each set, and the number of all rows.
  std::span<const std::int64_t> period;    ///< Of each task.
  std::span<const std::int64_t> deadline;  ///< Relative, of each task.
  std::span<const std::int64_t> wcet;      ///< Worst-case execution time of each task.
  std::span<const std::int64_t> priority;  ///< Only for policies with declared priorities.
};

/// The verdict about one set.
enum class Answer : std::uint8_t {
  rejected = 0,  ///< some deadline is not guaranteed
  accepted = 1,  ///< every deadline is guaranteed
  unknown = 2,   ///< too much to compute; of `p-rm` and `cw-edf` all that is not accepted
};

/// Analyses all sets. `p-rm` and `cw-edf` accept what `np-fp` (by period) and `np-edf` accept
/// (docs/reference/analysis.md, eq. 35).
/// @return one Answer for each set.
/// @throws sched::ScheduleError for an unknown policy.
/// @throws std::invalid_argument for a policy without a test, for columns of different lengths, and
/// for deadlines that the policy refuses.
TAKT_CORE_PUBLIC std::vector<std::uint8_t> analyse_sets(const Sets& sets);

}  // namespace takt::analysis
