// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "preparation.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/order_check.hpp"
#include "takt/sched/policies.hpp"

namespace takt::sched {
namespace {

class Custom final : public Policy {
 public:
  Custom(std::string name, Comparator comparator, CustomOptions options) noexcept
      : name_(std::move(name)), comparator_(std::move(comparator)), options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] bool preemptive() const noexcept override { return options_.preemptive; }
  [[nodiscard]] bool fixed_priority() const noexcept override { return false; }

  [[nodiscard]] bool before(const Job& a, const Job& b) const noexcept override {
    return comparator_(a, b);
  }

  [[nodiscard]] Decision decide(std::span<const Job> pending, std::span<const Job> next,
                                TimePoint time) const noexcept override {
#ifndef NDEBUG
    watch_.look(*this, pending);
#endif
    return Policy::decide(pending, next, time);
  }

  [[nodiscard]] std::optional<Level> preemption_level(
      const TaskParameters& parameters) const noexcept override {
    return options_.level ? std::optional<Level>{options_.level(parameters)} : std::nullopt;
  }

  // What the comparator looks at is not known, so nothing is required.
  void prepare(std::vector<Task>& tasks) const override {
    inherit_priorities(tasks);
    inherit_deadlines(tasks);
  }

 private:
  std::string name_;
  Comparator comparator_;
  CustomOptions options_;
#ifndef NDEBUG
  mutable OrderWatch watch_;
#endif
};

}  // namespace

PolicyPtr custom(std::string name, Comparator comparator, CustomOptions options) {
  const auto names = policy_names();
  if (name.empty()) {
    throw ScheduleError("custom policy", "it has no name",
                        "give it one: traces and reports show it");
  }
  if (std::ranges::find(names, name) != names.end()) {
    throw ScheduleError("custom policy '" + name + "'", "a policy of Takt has this name",
                        "choose another name");
  }
  if (!comparator) {
    throw ScheduleError("custom policy '" + name + "'", "it has no comparator",
                        "pass a function that says whether one job runs before another");
  }
  return std::make_shared<Custom>(std::move(name), std::move(comparator), std::move(options));
}

}  // namespace takt::sched
