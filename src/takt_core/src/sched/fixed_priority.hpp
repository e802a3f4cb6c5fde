// SPDX-License-Identifier: Apache-2.0
//
// The order of all policies that decide by the priorities of tasks.
#pragma once

#include "takt/sched/policy.hpp"

namespace takt::sched {

class FixedPriority : public Policy {
 public:
  // `name` must be a literal.
  FixedPriority(std::string_view name, bool preemptive) noexcept
      : name_(name), preemptive_(preemptive) {}

  [[nodiscard]] std::string_view name() const noexcept final { return name_; }
  [[nodiscard]] bool preemptive() const noexcept final { return preemptive_; }
  [[nodiscard]] bool fixed_priority() const noexcept final { return true; }
  [[nodiscard]] Order order() const noexcept final { return Order::priority; }
  [[nodiscard]] bool before(const Job& a, const Job& b) const noexcept final {
    return a.priority > b.priority;
  }

 private:
  std::string_view name_;
  bool preemptive_;
};

}  // namespace takt::sched
