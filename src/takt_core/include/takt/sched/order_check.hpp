// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checks whether a comparator is a strict weak ordering over given jobs. A comparator that is not
/// makes a queue lose its order silently, so debug builds check the pending jobs and report once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "takt/sched/policy.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

/// The rules of a strict weak ordering.
enum class OrderRule : std::uint8_t {
  irreflexive,  ///< not a < a
  asymmetric,   ///< not (a < b and b < a)
  transitive,   ///< a < b and b < c implies a < c
  equivalence,  ///< a ~ b and b ~ c implies a ~ c, where x ~ y means neither x < y nor y < x
};

/// Jobs that break a rule.
struct OrderViolation {
  OrderRule rule{};  ///< The broken rule.
  /// In the order of the rule; a rule with fewer jobs repeats its last one.
  std::array<Job, 3> jobs{};
};

/// The first violation among the jobs, if any. O(n^3): for tests, and for few jobs in debug builds.
TAKT_CORE_PUBLIC std::optional<OrderViolation> find_order_violation(
    const Policy& policy, std::span<const Job> jobs) noexcept;

/// A message with the policy, the broken rule and the jobs that break it.
TAKT_CORE_PUBLIC std::string describe(const Policy& policy, const OrderViolation& violation);

/// Prints the first violation to standard error, and no further ones.
class TAKT_CORE_PUBLIC OrderWatch {
 public:
  /// Longer lists are not checked, because the check is cubic.
  static constexpr std::size_t most_jobs = 6;

  /// Checks the jobs. Allocates only when it reports.
  /// @return whether this call reported.
  bool look(const Policy& policy, std::span<const Job> jobs) noexcept;

 private:
  std::atomic<bool> reported_{false};
};

}  // namespace takt::sched
