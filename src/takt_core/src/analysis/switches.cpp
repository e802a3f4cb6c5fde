// SPDX-License-Identifier: Apache-2.0
#include "switches.hpp"

#include <algorithm>

#include "busy_period.hpp"
#include "methods.hpp"
#include "one_scenario.hpp"
#include "paths.hpp"
#include "takt/analysis/fixed_priority.hpp"
#include "takt/application/compile.hpp"
#include "takt/sched/error.hpp"

namespace takt::analysis {
namespace {

using sched::CompiledScenario;
using sched::TaskIndex;

class Switches {
 public:
  Switches(const application::Application& application, const sched::CompiledStrategy& strategy)
      : application_(application),
        strategy_(strategy),
        name_(strategy.scenarios().front().policy().name()) {
    for (const CompiledScenario& scenario : strategy.scenarios()) {
      scenarios_.push_back(one_scenario(application, strategy, scenario, Topics::of_all));
    }
    preemptive_ = strategy.scenarios().front().policy().preemptive();
    test_ = test_without_idling(strategy.scenarios().front().policy());
    idles_ = !strategy.scenarios().front().policy().work_conserving();
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      sched::Level lowest = sched::infinite_ceiling;
      sched::Level highest = sched::no_ceiling;
      for (const CompiledScenario& scenario : strategy.scenarios()) {
        const sched::Level level = scenario.ceilings().level(static_cast<TaskIndex>(i));
        lowest = std::min(lowest, level);
        highest = std::max(highest, level);
      }
      lowest_.push_back(lowest);
      varies_.push_back(lowest != highest);
    }
  }

  // Why the bound does not hold for this application; empty: it does.
  [[nodiscard]] std::string not_covered() const {
    if (test_ == Test::none) {
      return "policy '" + std::string{name_} + "' has no bound for them";
    }
    for (const CompiledScenario& scenario : strategy_.scenarios()) {
      if (test_without_idling(scenario.policy()) != test_ ||
          scenario.policy().preemptive() != preemptive_ ||
          scenario.policy().work_conserving() == idles_) {
        return "policies '" + std::string{name_} + "' and '" +
               std::string{scenario.policy().name()} + "' do not order jobs alike";
      }
      for (const sched::AgeConstraint& age : scenario.age_constraints()) {
        if (age.needs_early_release() && scenario.parameters(age.reader).active) {
          return "'" + strategy_.tasks()[*age.source].name + "' starts before its time";
        }
      }
    }
    if (!application_.joins().empty()) {
      return "joins keep messages across a switch";
    }
    if (std::ranges::any_of(application_.callbacks,
                            [](const auto& callback) { return callback.lanes > 1; })) {
      return "jobs of one callback that run at once keep their turns across a switch";
    }
    bool messages = false;
    for (std::size_t i = 0; i < strategy_.tasks().size(); ++i) {
      if (std::string reason = not_covered(i); !reason.empty()) {
        return reason;
      }
      if (application_.overheads.release.count() > 0 && may_wait_for_job(i)) {
        return "releases of '" + strategy_.tasks()[i].name +
               "' may wait for the job before, and take time when it ends";
      }
      messages = messages || (strategy_.tasks()[i].kind == sched::TaskKind::message && active(i));
    }
    if (messages && std::ranges::count(varies_, true) > 0) {
      return "callbacks are released by messages, and priorities or deadlines change";
    }
    return locks_not_covered();
  }

  SwitchReport run() {
    SwitchReport report{.bound_by = std::string{methods::across_switches}};
    const application::Application dense = united(true);
    const sched::CompiledStrategy compiled = application::compile(dense);
    ScenarioModel model{dense, compiled, compiled.scenarios().front()};
    model.expect_switches();
    Effort effort;
    ScenarioBounds bounds = model.solve(effort, Graphs::none);
    const bool changes = std::ranges::count(varies_, true) > 0;
    if (test_ == Test::fixed_priority && changes) {
      bounds.schedulable = by_all_levels(model, bounds, effort);
    } else if (bounds.schedulable == true && changes &&
               !bound_by_deadlines(model, bounds, effort)) {
      report.bound_by =
          "a job may be due before the one of its callback before it, which it waits for";
      return report;
    }
    if (bounds.schedulable != true) {
      report.bound_by = "the bound for jobs of two scenarios together is above a deadline";
      return report;
    }
    const application::Application sparse = united(false);
    const sched::CompiledStrategy between = application::compile(sparse);
    const Paths paths{dense, compiled, between.scenarios().front(), model, bounds, varies_};
    for (const application::Chain& chain : dense.chains) {
      if (chain.max_latency.count() > 0 && paths.chain(chain).verdict != Verdict::meets) {
        report.bound_by = "the latency of chain '" + chain.name + "' around them is not bounded";
        return report;
      }
    }
    for (const sched::AgeConstraint& age : between.scenarios().front().age_constraints()) {
      if (age.needs_early_release() || paths.age(age).verdict != Verdict::meets) {
        report.bound_by = "the age of '" + age.topic + "' around them is not bounded";
        return report;
      }
    }
    report.verdict = Verdict::meets;
    return report;
  }

 private:
  [[nodiscard]] bool active(std::size_t callback) const {
    return strategy_.scenarios().front().parameters(static_cast<TaskIndex>(callback)).active;
  }

  // Though deadlines are kept.
  [[nodiscard]] bool may_wait_for_job(std::size_t i) const {
    nanoseconds period = sched::longest_time;
    for (const CompiledScenario& scenario : strategy_.scenarios()) {
      period = std::min(period, scenario.parameters(static_cast<TaskIndex>(i)).period);
    }
    const auto& first = strategy_.scenarios().front().parameters(static_cast<TaskIndex>(i));
    return active(i) && strategy_.tasks()[i].kind == sched::TaskKind::timer &&
           first.overrun != sched::Overrun::skip && longest_deadline(i) > period;
  }

  [[nodiscard]] std::string not_covered(std::size_t i) const {
    const sched::Task& task = strategy_.tasks()[i];
    for (const CompiledScenario& scenario : strategy_.scenarios()) {
      const auto& parameters = scenario.parameters(static_cast<TaskIndex>(i));
      const auto& first = strategy_.scenarios().front().parameters(static_cast<TaskIndex>(i));
      if (parameters.active != first.active) {
        return "'" + task.name + "' is active in some scenarios only";
      }
      if (parameters.overrun != first.overrun) {
        return "what '" + task.name + "' does with an overrun changes";
      }
    }
    if (active(i) && (task.waits || !task.group.empty())) {
      return "'" + task.name + (task.waits ? "' waits" : "' is in an exclusive group");
    }
    return {};
  }

  // Locks whose ceilings or order two scenarios see in different ways.
  [[nodiscard]] std::string locks_not_covered() const {
    if (!preemptive_) {
      return {};
    }
    const bool changes = std::ranges::count(varies_, true) > 0;
    for (const application::Callback& callback : application_.callbacks) {
      for (const application::CriticalSection& section : callback.critical_sections) {
        const application::Lock& lock = application_.locks[section.lock];
        if (test_ != Test::fixed_priority) {
          return "'" + callback.task.name + "' takes lock '" + lock.name +
                 "', whose ceilings of two scenarios cannot be compared";
        }
        if (changes && lock.protocol == application::LockProtocol::fmlp_plus) {
          return "priorities change, and '" + callback.task.name + "' may wait for lock '" +
                 lock.name + "' meanwhile without its core";
        }
        if (changes && application_.overheads.preemption.count() > 0) {
          return "priorities change, so that jobs may leave the core for lock '" + lock.name +
                 "' although it has a ceiling, and each time costs a preemption";
        }
      }
    }
    return {};
  }

  [[nodiscard]] nanoseconds longest_deadline(std::size_t callback) const {
    nanoseconds longest{0};
    for (const CompiledScenario& scenario : strategy_.scenarios()) {
      longest = std::max(
          longest, sched::relative_deadline(scenario.parameters(static_cast<TaskIndex>(callback))));
    }
    return longest;
  }

  // The worst of all scenarios, in one. `dense`: for the demands; else for what is waited for.
  [[nodiscard]] application::Application united(bool dense) const {
    application::Application result = scenarios_.front();
    result.policy = name_;
    if (test_ == Test::fixed_priority && preemptive_) {
      result.policy = "fp";  // the priorities are there, however they came about
    }
    if (idles_) {  // not if that keeps every deadline (docs/reference/analysis.md, eq. 35)
      result.policy = test_ == Test::fixed_priority ? "np-fp" : "np-edf";
    }
    for (std::size_t i = 0; i < result.callbacks.size(); ++i) {
      application::Callback& callback = result.callbacks[i];
      sched::TaskParameters& all = callback.task.parameters;
      all.deadline = sched::relative_deadline(all);
      // What a switch of the period leaves behind is not caught up on.
      if (callback.task.kind == sched::TaskKind::timer) {
        all.overrun = sched::Overrun::skip;
      }
      for (const application::Application& scenario : scenarios_) {
        unite(callback, scenario.callbacks[i], dense);
      }
    }
    return result;
  }

  static void unite(application::Callback& all, const application::Callback& one, bool dense) {
    sched::TaskParameters& parameters = all.task.parameters;
    const sched::TaskParameters& other = one.task.parameters;
    parameters.period = dense ? std::min(parameters.period, other.period)
                              : std::max(parameters.period, other.period);
    parameters.offset = std::max(parameters.offset, other.offset);
    const nanoseconds deadline = sched::relative_deadline(other);
    if (deadline.count() > 0) {
      parameters.deadline =
          parameters.deadline.count() > 0 ? std::min(parameters.deadline, deadline) : deadline;
    }
    parameters.priority = std::max(parameters.priority, other.priority);
    parameters.expected_execution =
        std::max(parameters.expected_execution, other.expected_execution);
    all.execution.worst = parameters.expected_execution;
    all.execution.best = std::min(all.execution.best, one.execution.best);
    all.execution.quantiles.clear();
    for (std::size_t i = 0; i < all.task.reads.size(); ++i) {
      nanoseconds& limit = all.task.reads[i].max_age;
      const nanoseconds other_limit = one.task.reads[i].max_age;
      if (dense) {
        limit = nanoseconds{0};  // nothing is released early, and the demands do not depend on it
      } else if (other_limit.count() > 0) {
        limit = limit.count() > 0 ? std::min(limit, other_limit) : other_limit;
      }
    }
  }

  // Deadlines that change: kept ones, and that no job outlasts all work, are what is known. False
  // where jobs of one callback, which come one after the other, may have them in another order: the
  // demand does not count with that.
  bool bound_by_deadlines(const ScenarioModel& model, ScenarioBounds& bounds,
                          Effort& effort) const {
    for (const ScenarioModel::CoreDemands& core : model.cores()) {
      const auto busy = busy_period(core.demands, nanoseconds{0}, effort, core.supply);
      for (std::size_t i = 0; i < core.jobs; ++i) {
        const Demand& demand = core.demands[i];
        const nanoseconds deadline = longest_deadline(demand.task);
        const nanoseconds end = busy ? std::min(deadline, *busy + demand.lag) : deadline;
        if (end > demand.releases.period && deadline > demand.deadline + demand.releases.period) {
          return false;
        }
        bounds.responses[core.streams[i]].bound = end;
      }
    }
    return true;
  }

  // Fixed priorities that change: who is above in any scenario counts as above.
  bool by_all_levels(const ScenarioModel& model, ScenarioBounds& bounds, Effort& effort) const {
    bool all = true;
    for (const ScenarioModel::CoreDemands& core : model.cores()) {
      for (std::size_t own = 0; own < core.jobs; ++own) {
        std::vector<Demand> demands = core.demands;
        const std::size_t task = demands[own].task;
        const sched::Level level = lowest_[task];
        for (Demand& demand : demands) {
          if (demand.interrupt) {
            continue;
          }
          // A lock that is held has the ceiling of when it was taken, and somebody above that may
          // have begun and hold another one: any of them, as with inheritance.
          for (Section& section : demand.sections) {
            section.by_ceiling = false;
            section.reach = sched::infinite_ceiling;
          }
          const bool above = demand.level > level ||
                             (demand.level == level && (varies_[task] || varies_[demand.task]));
          if (demand.task == task) {
            demand.level = level;
          } else if (above) {
            demand.level = level + 1;
          }
        }
        Response& response = bounds.responses[core.streams[own]];
        response = fixed_priority_response(demands, own, effort, core.supply);
        all = all && response.bound && *response.bound <= demands[own].deadline;
      }
    }
    return all;
  }

  const application::Application& application_;
  const sched::CompiledStrategy& strategy_;
  std::string_view name_;
  bool preemptive_ = true;
  bool idles_ = false;
  Test test_ = Test::none;
  std::vector<application::Application> scenarios_;  // by scenario
  std::vector<sched::Level> lowest_;                 // by callback, over the scenarios
  std::vector<bool> varies_;                         // by callback: whether its level does
};

}  // namespace

SwitchReport across_switches(const application::Application& application,
                             const sched::CompiledStrategy& strategy) {
  Switches switches{application, strategy};
  if (std::string reason = switches.not_covered(); !reason.empty()) {
    return {.bound_by = std::move(reason)};
  }
  try {
    return switches.run();
  } catch (const sched::ScheduleError& error) {  // their worst together cannot be executed
    return {.bound_by = error.where() + ": " + error.problem()};
  }
}

}  // namespace takt::analysis
