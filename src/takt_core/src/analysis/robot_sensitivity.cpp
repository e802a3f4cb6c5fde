// SPDX-License-Identifier: Apache-2.0
#include "robot_sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../application/robot.hpp"
#include "../sched/stock_executor.hpp"
#include "factor_search.hpp"
#include "takt/sched/policies.hpp"

namespace takt::analysis {
namespace {

using application::Application;

void scale(application::ExecutionTime& execution, double factor) {
  const auto worst = static_cast<double>(execution.worst.count());
  execution.worst =
      nanoseconds{std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(worst * factor)))};
  execution.best = std::min(execution.best, execution.worst);
  for (nanoseconds& quantile : execution.quantiles) {
    quantile = std::min(quantile, execution.worst);
  }
}

Application scaled(const Application& robot, double factor) {
  Application result = robot;
  for (application::Callback& callback : result.callbacks) {
    scale(callback.execution, factor);
    callback.task.parameters.expected_execution = callback.execution.worst;
  }
  for (application::Process& process : result.processes) {
    for (application::Thread& thread : process.threads) {
      scale(thread.execution, factor);
      for (application::Receipt& receipt : thread.receives) {
        scale(receipt.execution, factor);
      }
    }
  }
  return result;
}

bool idles(const application::Process& process) {
  return !sched::stock_executor(process.policy) &&
         !sched::parse_policy(process.policy)->work_conserving();
}

// With the same order without idling in each process whose policy may leave the core idle: where
// that keeps every deadline, the policy never does, also if jobs compute for longer than it expects
// (docs/reference/analysis.md, eq. 35).
Application without_idling(const Application& described) {
  Application result = described;
  for (std::size_t i = 0; i < result.processes.size(); ++i) {
    if (!idles(result.processes[i])) {
      continue;
    }
    const sched::CompiledStrategy strategy = application::compile_process(described, i);
    const sched::CompiledScenario& scenario = strategy.scenarios().front();
    const bool ranks = scenario.policy().fixed_priority();
    result.processes[i].policy = ranks ? "np-fp" : "np-edf";
    for (std::size_t task = 0; ranks && task < result.callbacks.size(); ++task) {
      if (result.callbacks[task].process == i) {
        result.callbacks[task].task.parameters.priority =
            scenario.parameters(static_cast<sched::TaskIndex>(task)).priority;
      }
    }
  }
  return result;
}

class OfRobot final : public Question {
 public:
  OfRobot(const Application& robot, Options options, AnalyseProcess analyse_process)
      : robot_(robot), options_(std::move(options)), analyse_process_(analyse_process) {
    options_.sensitivity = options_.proposals = false;
  }

  std::optional<bool> known(double factor) override { return accepts(factor); }

  bool accepts(double factor) override {
    return analyse_robot(scaled(robot_, factor), options_, analyse_process_).verdict ==
           Verdict::meets;
  }

 private:
  const Application& robot_;
  Options options_;
  AnalyseProcess analyse_process_;
};

}  // namespace

Sensitivity robot_sensitivity(const Application& described, const Options& options,
                              AnalyseProcess analyse_process) {
  const bool any_idles = std::ranges::any_of(described.processes, idles);
  const Application robot = any_idles ? without_idling(described) : described;
  OfRobot question{robot, options, analyse_process};
  Sensitivity result;
  const double least = any_idles ? 1 : 0;  // a policy that expects more may wait for it
  if (const double factor = FactorSearch{question}.run_exactly(); factor > 0 && factor >= least) {
    result.all = factor;
  }
  return result;
}

}  // namespace takt::analysis
