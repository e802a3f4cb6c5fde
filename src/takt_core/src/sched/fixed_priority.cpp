// SPDX-License-Identifier: Apache-2.0
#include "fixed_priority.hpp"

#include "preparation.hpp"
#include "takt/sched/policies.hpp"

namespace takt::sched {
namespace {

class Monotonic final : public FixedPriority {
 public:
  Monotonic(std::string_view name, PriorityKey key, bool constrained) noexcept
      : FixedPriority(name, true), key_(key), constrained_(constrained) {}

  void prepare(std::vector<Task>& tasks) const override {
    if (constrained_) {
      refuse_deadlines_above_periods(tasks, name());
    }
    assign_priorities(tasks, key_, name());
  }

 private:
  PriorityKey key_;
  bool constrained_;
};

}  // namespace

PolicyPtr fixed_priority() {
  return std::make_shared<FixedPriority>("fp", true);
}

PolicyPtr non_preemptive_fixed_priority() {
  return std::make_shared<FixedPriority>("np-fp", false);
}

PolicyPtr rate_monotonic() {
  return std::make_shared<Monotonic>(
      "rm", [](const TaskParameters& parameters) { return parameters.period; }, false);
}

PolicyPtr deadline_monotonic() {
  return std::make_shared<Monotonic>(
      "dm", [](const TaskParameters& parameters) { return relative_deadline(parameters); }, true);
}

}  // namespace takt::sched
