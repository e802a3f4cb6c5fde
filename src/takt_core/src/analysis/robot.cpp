// SPDX-License-Identifier: Apache-2.0
#include "robot.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "../application/process_cores.hpp"
#include "../application/robot.hpp"
#include "../application/robot_cores.hpp"
#include "../application/threads.hpp"
#include "../sched/text.hpp"
#include "assumptions.hpp"
#include "changed_process.hpp"
#include "robot_arrivals.hpp"
#include "robot_chains.hpp"
#include "robot_core.hpp"
#include "robot_effects.hpp"
#include "robot_gaps.hpp"
#include "robot_proposals.hpp"
#include "robot_reads.hpp"
#include "robot_sensitivity.hpp"
#include "robot_services.hpp"
#include "robot_words.hpp"
#include "scenario_changes.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"
#include "verdict.hpp"

namespace takt::analysis {
namespace {

using application::Application;
using application::Callback;

constexpr int most_rounds = 200;
// In all rounds: near full utilization busy periods are long, and jitters grow by little in each.
constexpr std::int64_t most_steps = 100'000'000;

class Robot {
 public:
  // `changes`: of scenarios, where bounds are to hold across their switches; else null.
  explicit Robot(const Application& robot, const ScenarioChanges* changes = nullptr)
      : robot_(robot),
        changes_(changes),
        effects_(robot.processes.size()),
        disturbed_(robot.processes.size()),
        throttled_(robot.processes.size()),
        unbounded_(robot.processes.size()) {}

  // Whether nothing changes any more.
  bool solve() {
    for (int round = 0; round < most_rounds; ++round) {
      bool changed = false;
      for (std::size_t i = 0; i < effects_.size(); ++i) {
        if (round > 0 && !disturbed_[i] && !robot_.processes[i].reservation &&
            !robot_.processes[i].quota) {
          continue;  // nothing of it changes
        }
        const Application view = process(i);
        Effects effects = changes_ != nullptr && changes_->changes(i)
                              ? ChangedProcess{view, *changes_, steps_}.effects(robot_)
                              : effects_of(view, robot_, moves(i), disturbed_[i], steps_);
        changed = changed || effects != effects_[i];
        effects_[i] = std::move(effects);
      }
      if (!changed) {
        return true;
      }
      if (is_stopped()) {
        return false;
      }
      if (Interruptible::interrupted()) {
        throw Interrupted{};
      }
    }
    return false;
  }

  // Whether it was too much to compute.
  [[nodiscard]] bool is_stopped() const { return steps_ <= 0; }

  // One process with all that the others do to it.
  Application process(std::size_t number) {
    Application view = application::process_of(robot_, number);
    unbounded_[number].clear();
    view.cores.clear();
    ShareOfCore share = share_of_core(robot_, number, effects_);
    if (share.core) {
      view.cores = {*std::move(share.core)};
    }
    disturbed_[number] = share.disturbed;
    throttled_[number] = share.throttled;
    for (application::Topic& topic : view.topics) {
      receive(view, topic, number);
    }
    std::vector<const std::vector<Served>*> served;
    served.reserve(effects_.size());
    for (const Effects& effects : effects_) {
      served.push_back(&effects.served);
    }
    disturbed_[number] = await_responses(view, robot_, number, served) || disturbed_[number];
    return view;
  }

  // The topics whose messages from other processes nothing bounds.
  [[nodiscard]] const std::set<std::string>& unbounded(std::size_t number) const {
    return unbounded_[number];
  }

  // Whether its quota interrupts it.
  [[nodiscard]] bool is_throttled(std::size_t number) const { return throttled_[number]; }

  // Whether others influence it at all.
  [[nodiscard]] bool is_disturbed(std::size_t number) const { return disturbed_[number]; }

 private:
  // Whether those below may see its jobs come from another core. Of a reservation its runtime
  // counts.
  [[nodiscard]] bool moves(std::size_t number) const {
    const application::Process& process = robot_.processes[number];
    return application::roams(process) && !process.reservation;
  }

  // The messages of a topic that come from elsewhere.
  void receive(Application& view, application::Topic& topic, std::size_t number) {
    if (!application::comes_from_elsewhere(robot_, topic.name, number)) {
      return;
    }
    disturbed_[number] = true;
    std::vector<Arrivals> all;
    if (robot_.find_topic(topic.name)->external) {
      all.push_back({.period = topic.external_period, .jitter = topic.external_jitter});
    }
    for (const Callback& writer : robot_.callbacks) {
      if (writer.process == number || !publishes(writer, topic.name)) {
        continue;
      }
      for (const Publisher& one : effects_[writer.process].publishers) {
        if (one.callback == writer.task.name) {
          const auto messages = static_cast<std::size_t>(writer.messages_on(topic.name).most);
          all.insert(all.end(), messages,
                     by_clock_of(robot_, number, writer.process, one.published));
        }
      }
    }
    if (all.empty()) {
      silence(view, topic);
      return;
    }
    Arrivals arrivals = merged(all);
    if (nothing_bounds(all)) {
      unbounded_[number].insert(topic.name);
      arrivals.period = too_often(view, topic);
    }
    topic.external_period = arrivals.period;
    topic.external_jitter = arrivals.jitter;
    topic.external_distance = arrivals.distance;
  }

  // Not even the period that a reader declares: a writer that does not keep up does not keep it.
  // What they come as often as in place of it leaves no bound to what they delay: each takes the
  // core, by its job or by its release, for longer than the period.
  [[nodiscard]] nanoseconds too_often(const Application& view,
                                      const application::Topic& topic) const {
    nanoseconds least = nanoseconds::max();
    for (const Callback& reader : view.callbacks) {
      if (reader.task.kind == sched::TaskKind::message && reader.task.trigger == topic.name) {
        least = std::min(least, reader.execution.worst);
      }
    }
    if (least == nanoseconds::max()) {
      return {};  // nobody is released by them
    }
    const nanoseconds release = robot_.overheads.release;
    least = release.count() > 0 ? std::min(least, release) : least;
    return std::max(least / 2, nanoseconds{1});
  }

  static bool nothing_bounds(const std::vector<Arrivals>& all) {
    return std::ranges::any_of(all, [](const Arrivals& one) { return one.period.count() <= 0; });
  }

  // So far nobody is known to publish it.
  static void silence(Application& view, application::Topic& topic) {
    if (std::ranges::any_of(view.callbacks,
                            [&](const Callback& one) { return publishes(one, topic.name); })) {
      topic.external = false;
      return;
    }
    for (Callback& callback : view.callbacks) {
      if (callback.task.kind == sched::TaskKind::message && callback.task.trigger == topic.name) {
        callback.task.parameters.active = false;
      }
    }
  }

  const Application& robot_;
  const ScenarioChanges* changes_;
  std::vector<Effects> effects_;  // by process
  std::vector<bool> disturbed_;
  std::vector<bool> throttled_;
  std::vector<std::set<std::string>> unbounded_;
  std::int64_t steps_ = most_steps;  // that are left
};

// What was proved of a process alone does not refute anything of it beside others.
void weaken(ScenarioReport& report) {
  const auto unknown = [](Verdict& verdict) {
    verdict = verdict == Verdict::misses ? Verdict::not_proved : verdict;
  };
  unknown(report.deadlines);
  unknown(report.verdict);
  for (CallbackReport& callback : report.callbacks) {
    callback.exact = false;
    unknown(callback.verdict);
  }
  for (CoreReport& core : report.cores) {
    unknown(core.verdict);
  }
}

void forget(ScenarioReport& report) {
  report.deadlines = report.verdict = Verdict::not_proved;
  for (CallbackReport& callback : report.callbacks) {
    callback.response.reset();
    callback.verdict = Verdict::not_proved;
  }
  for (CoreReport& core : report.cores) {
    core.verdict = Verdict::not_proved;
  }
  for (AgeReport& age : report.ages) {
    age.age.reset();
    age.verdict = Verdict::not_proved;
  }
}

// Of an executor of rclcpp with several threads its utilization is that of all its cores.
std::string threads_text(const application::Process& process) {
  const std::string begin =
      application::roams(process) ? ", on cores " : ", with a thread on each of cores ";
  std::string text;
  for (const int cpu : process.cpus) {
    text += (text.empty() ? begin : " and ") + std::to_string(cpu);
  }
  return text;
}

// What was proved of a process, as a part of what is proved of the robot.
void add_process(ScenarioReport& all, ScenarioReport& one, const Application& robot,
                 std::size_t number) {
  const application::Process& process = robot.processes[number];
  const std::string name = application::place_text(process);
  const std::string place = name + threads_text(process) + below_text(robot, number);
  for (CoreReport& core : one.cores) {
    core.bound_by.insert(0, core.bound_by.empty() ? "" : ", ");
    core.bound_by.insert(0, place);
    core.host = process.host;
    core.process = process.one_of_cores ? application::family_of(process) : process.name;
    all.cores.push_back(std::move(core));
  }
  for (const std::string& remark : one.remarks) {
    all.remarks.push_back(std::string{name}.append(": ").append(remark));
  }
  std::ranges::move(one.priorities, std::back_inserter(all.priorities));
  std::ranges::move(one.callbacks, std::back_inserter(all.callbacks));
  std::ranges::move(one.ages, std::back_inserter(all.ages));
  all.deadlines = worse(all.deadlines, one.deadlines);
}

// What is assumed of the cores of the robot's hosts.
void add_assumptions(Report& report, const Application& robot) {
  for (application::Core core : robot.cores) {
    const std::string host = application::host_of(robot, core);
    core.cpu = application::cpu_of(core);
    if (const std::string assumption = assumption_of(core); !assumption.empty()) {
      report.remarks.push_back(assumption +
                               (host.empty() ? "" : ", of host " + sched::name_text(host)));
    }
  }
}

// One process with all that the others do to it.
ScenarioReport report_of(const Application& view, std::size_t number, const Options& options,
                         AnalyseProcess analyse_process, const ScenarioChanges* changes) {
  if (changes != nullptr && changes->changes(number)) {
    return across_switches(view, *changes);
  }
  Options part = options;
  part.sensitivity = false;
  return std::move(analyse_process(view, part).scenarios.front());
}

}  // namespace

Report analyse_robot(const Application& described, const Options& options,
                     AnalyseProcess analyse_process) {
  if (described.strategy) {
    return analyse_scenarios(described, options, analyse_process);
  }
  return analyse_robot(described, options, analyse_process, nullptr);
}

Report analyse_robot(const Application& described, const Options& options,
                     AnalyseProcess analyse_process, const ScenarioChanges* changes) {
  const Interruptible interruptible{options.stop};
  Application aged = described;
  const RobotReads reads{aged};
  const Application robot = application::with_handover(aged);
  static_cast<void>(application::compile(robot));  // refuses what no executor accepts
  // What waits for a timer waits for the longest period of all scenarios.
  const Application sparsest =
      changes == nullptr ? Application{} : application::with_handover(changes->sparsest());
  RobotChains chains{changes == nullptr ? robot : sparsest};
  Robot processes{robot, changes};
  const bool solved = processes.solve();
  std::vector<Application> views;
  views.reserve(robot.processes.size());
  for (std::size_t i = 0; i < robot.processes.size(); ++i) {
    views.push_back(processes.process(i));
  }
  if (solved) {
    add_gaps(robot, views);
  }
  Report report{.application = robot.name,
                .policy = "robot",
                .overheads = robot.overheads,
                .verdict = Verdict::meets};
  ScenarioReport all{
      .name = "default", .policy = "robot", .deadlines = Verdict::meets, .verdict = Verdict::meets};
  for (std::size_t i = 0; i < robot.processes.size(); ++i) {
    Application& process = views[i];
    process.chains = chains.parts_of(i);
    ScenarioReport one = report_of(process, i, options, analyse_process, changes);
    if (processes.is_disturbed(i)) {
      weaken(one);
    }
    if (!solved) {
      forget(one);
    }
    name_processes_above(one);
    name_supply(one, robot, i, processes.is_throttled(i));
    name_topics(one, robot, robot.processes[i]);
    name_calls(one, robot);
    std::ranges::move(unbounded_messages(robot, process, i, processes.unbounded(i)),
                      std::back_inserter(one.remarks));
    for (CallbackReport& callback : one.callbacks) {
      callback.host = robot.processes[i].host;
    }
    chains.take(one);
    add_process(all, one, robot, i);
  }
  all.verdict = all.deadlines;
  all.chains = chains.reports(solved);
  reads.complete(all.chains, all.ages);
  std::ranges::move(chains.without_age(all.chains), std::back_inserter(all.remarks));
  for (const ChainReport& chain : all.chains) {
    if (chain.max_latency) {
      all.verdict = worse(all.verdict, chain.verdict);
    }
  }
  for (const AgeReport& age : all.ages) {
    all.verdict = worse(all.verdict, age.verdict);
  }
  const bool stopped = !solved && processes.is_stopped();
  if (stopped) {
    all.remarks.emplace_back(
        "how the processes delay each other is too much to compute, as busy periods are long where "
        "a core has hardly any time left: no bounds, no proposals, no sensitivity");
  } else if (!solved) {
    all.remarks.emplace_back("the jitters between the processes grow without end");
  }
  if (options.sensitivity && !stopped) {
    all.sensitivity = robot_sensitivity(described, options, analyse_process);
  }
  const bool reserves = std::ranges::any_of(
      described.processes,
      [](const application::Process& process) { return process.reservation.has_value(); });
  if (options.proposals && !stopped && (all.verdict != Verdict::meets || reserves)) {
    all.processes = propose_processes(described, options, analyse_process);
  }
  report.verdict = all.verdict;
  report.scenarios.push_back(std::move(all));
  if (!robot.overheads.any()) {
    report.remarks.emplace_back("overheads of executor and messages are left out");
  }
  add_assumptions(report, robot);
  std::ranges::move(assumed_of_kernel(robot), std::back_inserter(report.remarks));
  std::ranges::move(assumed_of_messages(robot), std::back_inserter(report.remarks));
  return report;
}

}  // namespace takt::analysis
