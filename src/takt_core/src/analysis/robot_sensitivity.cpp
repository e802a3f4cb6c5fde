// SPDX-License-Identifier: Apache-2.0
#include "robot_sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "factor_search.hpp"

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
  OfRobot question{described, options, analyse_process};
  Sensitivity result;
  if (const double factor = FactorSearch{question}.run(); factor > 0) {
    result.all = factor;
  }
  return result;
}

}  // namespace takt::analysis
