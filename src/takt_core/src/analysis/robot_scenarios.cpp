// SPDX-License-Identifier: Apache-2.0
#include "../application/robot_scenarios.hpp"

#include <string>
#include <utility>
#include <vector>

#include "robot.hpp"
#include "takt/application/compile.hpp"
#include "takt/application/threads.hpp"
#include "verdict.hpp"

namespace takt::analysis {

using application::Application;

// The callbacks stay on their cores, whichever it is.
Report analyse_scenarios(const Application& described, Options options,
                         AnalyseProcess analyse_process) {
  const Application all = application::with_threads(described);
  static_cast<void>(application::compile(all));  // refuses scenarios of unknown callbacks
  const std::vector<sched::ScenarioPtr>& scenarios = described.strategy->scenarios();
  options.proposals = options.proposals && scenarios.size() == 1;  // they would have to hold in all
  Report report;
  for (const sched::ScenarioPtr& scenario : scenarios) {
    Report one = analyse_robot(application::in_scenario(all, *scenario), options, analyse_process);
    one.scenarios.front().name = scenario->name();
    if (report.scenarios.empty()) {
      report = std::move(one);
    } else {
      report.scenarios.push_back(std::move(one.scenarios.front()));
      report.verdict = worse(report.verdict, one.verdict);
    }
  }
  if (scenarios.size() > 1) {
    report.switches = SwitchReport{
        .bound_by =
            "how jobs of two scenarios meet is not analysed in robots of several processes"};
    report.verdict = worse(report.verdict, report.switches->verdict);
  }
  return report;
}

}  // namespace takt::analysis
