// SPDX-License-Identifier: Apache-2.0
#include "stock_executor.hpp"

namespace takt::sched {
namespace {

constexpr int timers_first = 2;
constexpr int then_subscriptions = 1;

// Several threads have orders of their own (CoreState::share_among).
class WaitSet final : public Policy {
 public:
  explicit WaitSet(std::string_view name) : name_(name) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] bool preemptive() const noexcept override { return false; }
  [[nodiscard]] bool fixed_priority() const noexcept override { return false; }

  // The pending jobs are those of one collection, so their releases do not matter.
  [[nodiscard]] bool before(const Job& a, const Job& b) const noexcept override {
    return a.priority != b.priority ? a.priority > b.priority : a.task < b.task;
  }

  [[nodiscard]] std::optional<Level> preemption_level(
      const TaskParameters& parameters) const noexcept override {
    return parameters.priority;
  }

  // Messages wait in the queue of their topic, and an expiry is dropped at the start of a job, not
  // at its end.
  void prepare(std::vector<Task>& tasks) const override {
    for (Task& task : tasks) {
      const bool timer = task.kind == TaskKind::timer;
      task.parameters.priority = timer ? timers_first : then_subscriptions;
      task.parameters.overrun = timer ? Overrun::skip : Overrun::catch_up;
    }
  }

 private:
  std::string_view name_;
};

class ArrivalOrder final : public Policy {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return arrival_order_name; }
  [[nodiscard]] bool preemptive() const noexcept override { return false; }
  [[nodiscard]] bool fixed_priority() const noexcept override { return false; }

  [[nodiscard]] bool before(const Job& a, const Job& b) const noexcept override {
    return a.release < b.release;
  }

  [[nodiscard]] std::optional<Level> preemption_level(
      const TaskParameters& /*parameters*/) const noexcept override {
    return 0;
  }

  void prepare(std::vector<Task>& tasks) const override {
    for (Task& task : tasks) {
      task.parameters.priority = timers_first;
      task.parameters.overrun = Overrun::catch_up;
    }
  }
};

}  // namespace

PolicyPtr stock_executor(std::string_view name) {
  for (const std::string_view own : {wait_set_name, threads_name, group_turns_name}) {
    if (name == own) {
      return std::make_shared<WaitSet>(own);
    }
  }
  return name == arrival_order_name ? std::make_shared<ArrivalOrder>() : PolicyPtr{};
}

}  // namespace takt::sched
