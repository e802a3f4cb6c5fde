// SPDX-License-Identifier: Apache-2.0
//
// Is a comparator a strict weak ordering over these jobs? A comparator that is not makes a queue
// lose its order silently, so debug builds look at the jobs that are pending and say so once.
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

enum class OrderRule : std::uint8_t {
  irreflexive,  // not a < a
  asymmetric,   // not (a < b and b < a)
  transitive,   // a < b and b < c: a < c
  equivalence,  // a ~ b and b ~ c: a ~ c, where x ~ y is neither x < y nor y < x
};

struct OrderViolation {
  OrderRule rule{};
  std::array<Job, 3> jobs{};  // as in the rule; jobs that it does not name repeat the ones before
};

// The first violation among the jobs, if any. O(n^3): for tests, and for few jobs in debug builds.
TAKT_CORE_PUBLIC std::optional<OrderViolation> find_order_violation(
    const Policy& policy, std::span<const Job> jobs) noexcept;

// For people: the policy, the broken rule and the jobs that break it.
TAKT_CORE_PUBLIC std::string describe(const Policy& policy, const OrderViolation& violation);

// Reports the first violation that it sees to standard error, and stays silent from then on.
class TAKT_CORE_PUBLIC OrderWatch {
 public:
  // More jobs than this are not looked at in one call: the check is cubic.
  static constexpr std::size_t most_jobs = 6;

  // Returns whether this call reported. Allocates only when it reports.
  bool look(const Policy& policy, std::span<const Job> jobs) noexcept;

 private:
  std::atomic<bool> reported_{false};
};

}  // namespace takt::sched
