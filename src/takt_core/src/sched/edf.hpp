// SPDX-License-Identifier: Apache-2.0
//
// The order of all policies that decide by absolute deadlines.
#pragma once

#include "takt/sched/policy.hpp"

namespace takt::sched {

class EarliestDeadlineFirst : public Policy {
 public:
  // `name` must be a literal.
  EarliestDeadlineFirst(std::string_view name, bool preemptive) noexcept
      : name_(name), preemptive_(preemptive) {}

  [[nodiscard]] std::string_view name() const noexcept final { return name_; }
  [[nodiscard]] bool preemptive() const noexcept final { return preemptive_; }
  [[nodiscard]] bool fixed_priority() const noexcept final { return false; }
  [[nodiscard]] Order order() const noexcept final { return Order::deadline; }
  [[nodiscard]] bool before(const Job& a, const Job& b) const noexcept final {
    return a.deadline < b.deadline;
  }

  // A job that is released later and has the earlier deadline has the shorter relative deadline. A
  // job without a deadline has the lowest level.
  [[nodiscard]] std::optional<Level> preemption_level(
      const TaskParameters& parameters) const noexcept final {
    const nanoseconds deadline = relative_deadline(parameters);
    return -(deadline.count() > 0 ? deadline : nanoseconds::max()).count();
  }

  void prepare(std::vector<Task>& tasks) const override;

 private:
  std::string_view name_;
  bool preemptive_;
};

}  // namespace takt::sched
