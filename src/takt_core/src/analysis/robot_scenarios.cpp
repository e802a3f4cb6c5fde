// SPDX-License-Identifier: Apache-2.0
#include "../application/robot_scenarios.hpp"

#include <string>
#include <utility>
#include <vector>

#include "../sched/text.hpp"
#include "methods.hpp"
#include "robot.hpp"
#include "scenario_changes.hpp"
#include "takt/application/compile.hpp"
#include "takt/application/threads.hpp"
#include "takt/sched/error.hpp"
#include "verdict.hpp"

namespace takt::analysis {

using application::Application;

namespace {

SwitchReport judged(const ScenarioReport& report) {
  for (const CallbackReport& callback : report.callbacks) {
    if (callback.verdict != Verdict::meets) {
      return {.bound_by =
                  "jobs of two scenarios together may be late, or released before the one "
                  "before them has ended: " +
                  sched::name_text(callback.name)};
    }
  }
  for (const ChainReport& chain : report.chains) {
    if (chain.max_latency && chain.verdict != Verdict::meets) {
      return {.bound_by = "the latency of chain " + sched::name_text(chain.name) +
                          " around them is not bounded"};
    }
  }
  return {.verdict = report.verdict, .bound_by = std::string{methods::across_switches_of_robots}};
}

// What holds then, whatever has a limit.
void add_bounds(SwitchReport& switches, const ScenarioReport& report, const Application& robot,
                const ScenarioChanges& changes) {
  for (const CallbackReport& callback : report.callbacks) {
    if (callback.response) {
      switches.responses[callback.name] = *callback.response;
    }
  }
  for (std::size_t i = 0; i < report.chains.size(); ++i) {
    if (report.chains[i].latency && changes.pausing_in(robot.chains[i]).empty()) {
      switches.latencies[report.chains[i].name] = *report.chains[i].latency;
    }
  }
}

SwitchReport switches_of(const Application& robot, AnalyseProcess analyse_process) {
  const ScenarioChanges changes{robot};
  if (std::string reason = changes.not_covered(); !reason.empty()) {
    return {.bound_by = std::move(reason)};
  }
  try {
    const Options brief{.sensitivity = false, .proposals = false};
    const ScenarioReport all =
        analyse_robot(changes.densest(), brief, analyse_process, &changes).scenarios.front();
    SwitchReport report = judged(all);
    if (report.verdict == Verdict::meets) {
      add_bounds(report, all, robot, changes);
    }
    if (const nanoseconds stay = changes.least_stay();
        report.verdict == Verdict::meets && stay.count() > 0) {
      report.bound_by += "; assuming at least " + sched::time_text(stay) +
                         " from each switch to the next, as callbacks are inactive in between";
    }
    return report;
  } catch (const sched::ScheduleError& error) {  // their worst together cannot be executed
    return {.bound_by = error.where() + ": " + error.problem()};
  }
}

}  // namespace

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
    report.switches = switches_of(all, analyse_process);
    report.verdict = worse(report.verdict, report.switches->verdict);
  }
  return report;
}

}  // namespace takt::analysis
