// SPDX-License-Identifier: Apache-2.0
//
// Very many sets of plain timers, each on one core, without their descriptions: for campaigns.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "takt/visibility.hpp"

namespace takt::analysis {

// Columns over the tasks of all sets, one set after the other; times in ns. Set i has the rows
// first[i] to first[i + 1]. Priorities matter to policies that go by declared ones.
struct Sets {
  std::string_view policy;
  std::span<const std::int64_t> first;
  std::span<const std::int64_t> period;
  std::span<const std::int64_t> deadline;
  std::span<const std::int64_t> wcet;
  std::span<const std::int64_t> priority;
};

enum class Answer : std::uint8_t { rejected = 0, accepted = 1, unknown = 2 };

// One Answer a set. Throws sched::ScheduleError for an unknown policy, std::invalid_argument for
// one without a test and for columns that do not fit together.
TAKT_CORE_PUBLIC std::vector<std::uint8_t> analyse_sets(const Sets& sets);

}  // namespace takt::analysis
