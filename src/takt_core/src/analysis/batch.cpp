// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/batch.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "takt/analysis/core.hpp"
#include "takt/sched/policies.hpp"

namespace takt::analysis {
namespace {

void check(const Sets& sets, const sched::Policy& policy) {
  const std::size_t rows = sets.period.size();
  if (sets.deadline.size() != rows || sets.wcet.size() != rows || sets.priority.size() != rows) {
    throw std::invalid_argument{"period, deadline, wcet and priority must have the same length"};
  }
  if (sets.first.empty() || sets.first.front() != 0 || !std::cmp_equal(sets.first.back(), rows)) {
    throw std::invalid_argument{"first must begin with 0 and end with the number of rows"};
  }
  for (std::size_t i = 1; i < sets.first.size(); ++i) {
    if (sets.first[i] < sets.first[i - 1]) {
      throw std::invalid_argument{"first must ascend"};
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    if (sets.period[i] <= 0 || sets.deadline[i] <= 0 || sets.wcet[i] < 0) {
      throw std::invalid_argument{"row " + std::to_string(i) +
                                  ": period and deadline must be above 0, wcet not below"};
    }
    if (!policy.work_conserving() && sets.deadline[i] > sets.period[i]) {
      throw std::invalid_argument{"row " + std::to_string(i) + ": policy '" +
                                  std::string{sets.policy} +
                                  "' takes no deadline above the period"};
    }
  }
}

// Only the order of levels matters, so monotonic ones need no priorities of 1..98.
sched::Level level_of(const Sets& sets, const sched::Policy& policy, std::size_t row) {
  if (policy.name() == "rm" || policy.name() == "p-rm") {
    return -sets.period[row];
  }
  return policy.name() == "dm" || !policy.fixed_priority() ? -sets.deadline[row]
                                                           : sets.priority[row];
}

}  // namespace

std::vector<std::uint8_t> analyse_sets(const Sets& sets) {
  const sched::PolicyPtr policy = sched::parse_policy(sets.policy);
  const Test test = test_without_idling(*policy);
  if (test == Test::none) {
    throw std::invalid_argument{"policy '" + std::string{sets.policy} +
                                "' has no test that goes by these columns: simulate the sets"};
  }
  check(sets, *policy);
  std::vector<std::uint8_t> answers;
  answers.reserve(sets.first.size() - 1);
  std::vector<Demand> demands;
  for (std::size_t set = 0; set + 1 < sets.first.size(); ++set) {
    demands.clear();
    const auto end = static_cast<std::size_t>(sets.first[set + 1]);
    for (auto row = static_cast<std::size_t>(sets.first[set]); row < end; ++row) {
      demands.push_back({.task = row,
                         .releases = {.period = nanoseconds{sets.period[row]}},
                         .execution = nanoseconds{std::max<std::int64_t>(1, sets.wcet[row])},
                         .deadline = nanoseconds{sets.deadline[row]},
                         .level = level_of(sets, *policy, row),
                         .ceiling = ceiling_for(*policy, sched::no_ceiling)});
    }
    Effort effort;
    const std::optional<bool> accepted = accepts(test, demands, effort);
    Answer answer = Answer::unknown;
    if (accepted) {
      // What keeps no deadline without idling may keep it with.
      const Answer otherwise = policy->work_conserving() ? Answer::rejected : Answer::unknown;
      answer = *accepted ? Answer::accepted : otherwise;
    }
    answers.push_back(static_cast<std::uint8_t>(answer));
  }
  return answers;
}

}  // namespace takt::analysis
