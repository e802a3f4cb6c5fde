// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/analyse.hpp"

#include <algorithm>
#include <utility>

#include "../application/own_subscriptions.hpp"
#include "assumptions.hpp"
#include "by_simulation.hpp"
#include "certainty.hpp"
#include "drop_remarks.hpp"
#include "graph_remarks.hpp"
#include "lock_blocking.hpp"
#include "methods.hpp"
#include "overtaking.hpp"
#include "paths.hpp"
#include "proposals.hpp"
#include "robot.hpp"
#include "sensitivity.hpp"
#include "switches.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"
#include "verdict.hpp"

namespace takt::analysis {
namespace {

class ScenarioAnalysis {
 public:
  ScenarioAnalysis(const application::Application& application,
                   const sched::CompiledStrategy& strategy, const sched::CompiledScenario& scenario)
      : application_(application),
        strategy_(strategy),
        scenario_(scenario),
        model_(application, strategy, scenario),
        bounds_(solve(model_)),
        certainty_(application, strategy, scenario, model_, bounds_) {
    // What is declared of cores need not happen in any run.
    const bool assumes = std::ranges::any_of(application.cores, [](const application::Core& core) {
      return !assumption_of(core).empty();
    });
    if (!assumes && std::ranges::any_of(bounds_.graphs, [](const std::optional<CoreGraph>& core) {
          return core && !core->graph.exact && core->graph.outcome != ScheduleGraph::Outcome::met;
        })) {
      missed_in_one_run_ = missed_in_one_run(application, strategy, scenario);
    }
    streams_.resize(application.callbacks.size());
    for (std::size_t i = 0; i < model_.streams().size(); ++i) {
      streams_[model_.streams()[i].callback].push_back(i);
    }
  }

  ScenarioReport run(const Options& options) {
    ScenarioReport report{.name = scenario_.name(),
                          .policy = std::string{scenario_.policy().name()}};
    report.remarks = model_.remarks();
    report.deadlines = Verdict::meets;
    add_callbacks(report);
    add_cores(report);
    report.verdict = report.deadlines;
    add_paths(report);
    if (!bounds_.converged) {
      report.remarks.emplace_back("the jitter of messages grows without end along a chain");
    }
    if (model_.test() == Test::none) {
      report.remarks.push_back("policy '" + report.policy +
                               "' has no test: nothing is known about its order");
    }
    for (std::string& remark : graph_remarks(model_, bounds_, strategy_)) {
      report.remarks.push_back(std::move(remark));
    }
    if (report.deadlines != Verdict::meets && options.proposals && model_.test() != Test::none) {
      report.priorities = propose_priorities(application_, strategy_, scenario_, model_);
      report.cpus = propose_cores(application_, strategy_, scenario_, model_);
    }
    // The others need a test in which what is shorter is never worse.
    const bool has_test = model_.test() != Test::none && model_.test() != Test::schedule_graph;
    const bool explored = std::ranges::any_of(bounds_.cores, [](const CoreBounds& core) {
      return core.explored && core.schedulable == true;
    });
    const bool without_idling = std::ranges::any_of(bounds_.cores, &CoreBounds::without_idling);
    if (options.sensitivity && (explored || without_idling) && bounds_.schedulable == true) {
      report.sensitivity = find_sensitivity(model_, application_, Graphs::brief, options.progress);
    } else if (options.sensitivity && !explored && has_test) {
      report.sensitivity =
          find_sensitivity(model_, application_, Graphs::none, options.progress, &bounds_);
    }
    if (report.sensitivity && report.sensitivity->left_out > 0) {
      report.remarks.push_back("how much longer they may compute is left out for " +
                               std::to_string(report.sensitivity->left_out) +
                               " callbacks: too much to compute");
    }
    return report;
  }

 private:
  void add_callbacks(ScenarioReport& report) {
    for (std::size_t i = 0; i < application_.callbacks.size(); ++i) {
      const auto& parameters = scenario_.parameters(static_cast<sched::TaskIndex>(i));
      if (!parameters.active) {
        continue;
      }
      CallbackReport callback{
          .name = strategy_.tasks()[i].name,
          .cpu = strategy_.tasks()[i].cpu,
          .priority = scenario_.policy().fixed_priority() ? parameters.priority : 0,
          .wcet = model_.execution(i)};
      const nanoseconds deadline = sched::relative_deadline(parameters);
      if (deadline.count() > 0) {
        callback.deadline = deadline;
      }
      if (parameters.expected_execution.count() == 0) {
        report.remarks.push_back("'" + callback.name + "' has no execution time: counted as 0");
        if (callback.wcet == nanoseconds{1}) {  // what the analysis counts with at least
          callback.wcet = nanoseconds{0};
        }
      }
      if (streams_[i].empty()) {
        callback.verdict = Verdict::meets;
        callback.bound_by = "never released in this scenario";
        report.callbacks.push_back(std::move(callback));
        continue;
      }
      judge(callback, streams_[i]);
      name_locks(callback, streams_[i].front());
      if (callback.response) {
        if (auto remark = drop_remark(application_, scenario_, model_, bounds_, streams_[i],
                                      *callback.response)) {
          report.remarks.push_back(std::move(*remark));
        }
      }
      report.deadlines = worse(report.deadlines, callback.verdict);
      report.callbacks.push_back(std::move(callback));
    }
  }

  // The worst of all that releases it.
  void judge(CallbackReport& callback, const std::vector<std::size_t>& streams) const {
    callback.verdict = Verdict::meets;
    callback.response = nanoseconds{0};
    callback.exact = true;
    callback.period = never;
    for (const std::size_t stream : streams) {
      const std::size_t at = model_.core_of(stream);
      const ScenarioModel::CoreDemands& demands = model_.cores()[at];
      const Demand& demand = model_.demand(stream);
      const Response& response = bounds_.responses[stream];
      const bool exact = bounds_.cores[at].explored && bounds_.cores[at].schedulable == true
                             ? bounds_.graphs[at]->graph.exact
                             : certainty_.reaches_bound(stream);
      Verdict verdict = Verdict::not_proved;
      if (response.bound && *response.bound <= demand.deadline) {
        verdict = Verdict::meets;
      } else if (certainty_.starves(stream)) {
        verdict = Verdict::misses;
        callback.bound_by = methods::overload;
      } else if ((response.bound && certainty_.reaches_bound_or_misses(stream)) ||
                 certainty_.outlasts(stream) || is_missed_in_graph(stream)) {
        verdict = Verdict::misses;
      } else if (is_missed_in_one_run(stream)) {
        verdict = Verdict::misses;
        callback.bound_by = methods::simulation;
      }
      callback.suspension = std::max(callback.suspension, demand.suspension);
      callback.exact = callback.exact && exact && response.bound;
      callback.verdict = worse(callback.verdict, verdict);
      callback.jitter = std::max(callback.jitter, demand.releases.jitter + demand.lag);
      callback.period = demand.releases.period.count() > 0 && callback.period
                            ? std::optional{std::min(*callback.period, demand.releases.period)}
                            : std::nullopt;
      if (callback.response && (!response.bound || *response.bound >= *callback.response)) {
        callback.response = response.bound;
        callback.blocking = response.blocking;
        if (callback.bound_by.empty()) {
          callback.bound_by =
              method_of(model_.test_on(at), demand, response, demands, bounds_.cores[at]);
        }
      }
    }
  }

  void name_locks(CallbackReport& callback, std::size_t stream) const {
    const ScenarioModel::CoreDemands& core = model_.cores()[model_.core_of(stream)];
    std::vector<std::size_t> locks = blocking_locks(core.demands, model_.demand(stream).level);
    for (const Section& section : model_.demand(stream).sections) {
      if (section.waiting.count() > 0 && std::ranges::count(locks, section.lock) == 0) {
        locks.push_back(section.lock);
      }
    }
    std::ranges::sort(locks);
    for (const std::size_t lock : locks) {
      callback.locks.push_back(application_.locks[lock].name);
    }
  }

  [[nodiscard]] bool is_missed_in_graph(std::size_t stream) const {
    const std::optional<CoreGraph>& core = bounds_.graphs[model_.core_of(stream)];
    return core && core->graph.exact && core->graph.outcome == ScheduleGraph::Outcome::missed &&
           core->streams[core->graph.witness.back().task] == stream;
  }

  [[nodiscard]] bool is_missed_in_one_run(std::size_t stream) const {
    return !missed_in_one_run_.empty() && missed_in_one_run_[model_.streams()[stream].callback];
  }

  void add_cores(ScenarioReport& report) {
    for (std::size_t i = 0; i < model_.cores().size(); ++i) {
      const ScenarioModel::CoreDemands& demands = model_.cores()[i];
      CoreReport core{.cpu = demands.cpu};
      for (const Demand& demand : demands.demands) {
        core.utilization += utilization(demand);
      }
      core.bound_by = core_method(model_.test_on(i), demands, bounds_.cores[i]);
      if (bounds_.cores[i].schedulable == true || demands.demands.empty()) {
        core.verdict = Verdict::meets;
      } else if (certainty_.misses(i) || is_missed_on(demands)) {
        core.verdict = Verdict::misses;
      }
      report.deadlines = worse(report.deadlines, core.verdict);
      report.cores.push_back(std::move(core));
    }
  }

  [[nodiscard]] bool is_missed_on(const ScenarioModel::CoreDemands& demands) const {
    return std::ranges::any_of(demands.streams, [this](std::size_t stream) {
      return stream != nobody && (is_missed_in_graph(stream) || is_missed_in_one_run(stream));
    });
  }

  void add_paths(ScenarioReport& report) const {
    const Paths paths{application_, strategy_, scenario_, model_, bounds_};
    for (const application::Chain& chain : application_.chains) {
      report.chains.push_back(paths.chain(chain));
      if (chain.max_latency.count() > 0) {
        report.verdict = worse(report.verdict, report.chains.back().verdict);
      }
    }
    if (std::ranges::count(report.chains, methods::busy_path_offsets, &ChainReport::bound_by) > 0) {
      report.remarks.emplace_back(
          "assuming timers that keep their offsets, as under ./takt execute, for chains through "
          "joins; those of rclcpp nodes count from when they were made");
    }
    for (const sched::AgeConstraint& constraint : scenario_.age_constraints()) {
      if (!scenario_.parameters(constraint.reader).active) {
        continue;  // nobody reads
      }
      report.ages.push_back(paths.age(constraint));
      report.verdict = worse(report.verdict, report.ages.back().verdict);
    }
  }

  static ScenarioBounds solve(ScenarioModel& model) {
    Effort effort;
    return model.solve(effort, Graphs::witness);
  }

  const application::Application& application_;
  const sched::CompiledStrategy& strategy_;
  const sched::CompiledScenario& scenario_;
  ScenarioModel model_;
  ScenarioBounds bounds_;
  Certainty certainty_;
  std::vector<bool> missed_in_one_run_;            // by callback; empty: not looked at
  std::vector<std::vector<std::size_t>> streams_;  // by callback
};

}  // namespace

// Not inline, so that the type is defined here alone.
const char* Interrupted::what() const noexcept {
  return "interrupted";
}

std::string_view text(Verdict verdict) noexcept {
  if (verdict == Verdict::meets) {
    return "meets";
  }
  return verdict == Verdict::misses ? "misses" : "not_proved";
}

namespace {

Report analyse_graph(const application::Application& application, const Options& options) {
  const Interruptible interruptible{options.stop};
  const sched::CompiledStrategy strategy = application::compile(application);
  Report report{.application = application.name,
                .policy = application.policy,
                .overheads = application.overheads,
                .verdict = Verdict::meets};
  for (const sched::CompiledScenario& scenario : strategy.scenarios()) {
    report.scenarios.push_back(ScenarioAnalysis{application, strategy, scenario}.run(options));
    if (Interruptible::interrupted()) {
      throw Interrupted{};
    }
    report.verdict = worse(report.verdict, report.scenarios.back().verdict);
  }
  if (!application.overheads.any()) {
    report.remarks.emplace_back("overheads of executor and messages are left out");
  }
  for (const application::Core& core : application.cores) {
    if (std::string assumption = assumption_of(core); !assumption.empty()) {
      report.remarks.push_back(std::move(assumption));
    }
  }
  if (strategy.scenarios().size() > 1) {
    report.switches = across_switches(application, strategy);
    report.verdict = worse(report.verdict, report.switches->verdict);
  }
  if (Interruptible::interrupted()) {
    throw Interrupted{};
  }
  return report;
}

}  // namespace

Report analyse(const application::Application& application, const Options& options) {
  if (!application.processes.empty()) {
    return analyse_robot(application, options, analyse_graph);
  }
  if (!application::has_stock_executor(application)) {
    return analyse_graph(application, options);
  }
  Report report = analyse_graph(application::with_own_subscriptions(application), options);
  add_overtaking(application, report);
  for (const application::Callback& callback : application.callbacks) {
    if (std::ranges::any_of(callback.task.reads,
                            [](const sched::Read& read) { return read.max_age.count() > 0; })) {
      report.remarks.push_back("'" + callback.task.name + "' has a maximum age, which " +
                               application.policy + " does not keep: left out");
    }
  }
  return report;
}

bool accepts(const application::Application& described) {
  if (!described.processes.empty()) {
    const Options brief{.sensitivity = false, .proposals = false};
    const Report report = analyse(described, brief);
    return std::ranges::all_of(report.scenarios, [](const ScenarioReport& one) {
      return one.deadlines == Verdict::meets;
    });
  }
  const application::Application application = application::with_own_subscriptions(described);
  const sched::CompiledStrategy strategy = application::compile(application);
  return std::ranges::all_of(strategy.scenarios(), [&](const sched::CompiledScenario& scenario) {
    ScenarioModel model{application, strategy, scenario};
    Effort effort;
    return model.accepts(effort, Graphs::verdict) == true;
  });
}

}  // namespace takt::analysis
