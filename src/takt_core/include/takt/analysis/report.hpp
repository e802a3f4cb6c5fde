// SPDX-License-Identifier: Apache-2.0
/// @file
/// The results of an analysis: for each scenario the bounds on the response of each callback, the
/// latency of each chain and the age of the data that is read. A bound that was not found, or that
/// is above its limit, means "not proved"; "misses" is reported only if the run that misses is
/// known.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/application/application.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

using std::chrono::nanoseconds;

/// What the analysis proved about a limit.
enum class Verdict : std::uint8_t {
  meets,       ///< met in every run
  not_proved,  ///< neither proved nor refuted
  /// missed in a known run: the one in which all tasks are released together and compute for their
  /// worst case, or one that the schedule graph shows
  misses,
};

/// "meets", "not_proved" or "misses".
TAKT_CORE_PUBLIC std::string_view text(Verdict verdict) noexcept;

/// The bounds of one callback.
struct CallbackReport {
  std::string name;                          ///< Name of the task.
  int cpu = 0;                               ///< Its core.
  std::string host = {};                     ///< Of a robot with several: its host.
  int priority = 0;                          ///< 0: the policy decides by deadlines.
  std::optional<nanoseconds> period = {};    ///< Of its releases; nothing: none, or without bound.
  std::optional<nanoseconds> deadline = {};  ///< Relative; nothing: none declared.
  nanoseconds wcet{0};                       ///< Worst-case execution time, overheads included.
  nanoseconds suspension{0};                 ///< The longest that one job waits while others run.
  nanoseconds jitter{0};                     ///< Of its releases, beyond the period.
  std::optional<nanoseconds> response = {};  ///< Bound from release to end; nothing: not found.
  nanoseconds blocking{0};                   ///< Part of the response that less urgent jobs cause.
  std::vector<std::string> locks = {};       ///< Locks whose holders contribute to the blocking.
  Verdict verdict = Verdict::not_proved;     ///< About its deadline.
  /// The bound is reached: if all tasks are released together or, by the schedule graph, in some
  /// run.
  bool exact = false;
  std::string bound_by = {};  ///< Paper and equation, see docs/reference/analysis.md.
};

/// The verdict of one core.
struct CoreReport {
  int cpu = 0;                            ///< Number of the CPU.
  std::string host = {};                  ///< Of a robot with several: its host.
  std::string process = {};               ///< Of a robot: whose jobs these are; else empty.
  double utilization = 0;                 ///< Share of the core that its tasks need.
  Verdict verdict = Verdict::not_proved;  ///< About all deadlines on it.
  std::string bound_by = {};              ///< Paper and equation.
};

/// One part of the latency of a chain across processes.
struct LatencyTerm {
  /// Where the time passes.
  enum class Kind : std::uint8_t {
    process,   ///< In a process, from the noticing of the data to the end of its last callback.
    handover,  ///< Between processes, until the next one notices the message.
    link,      ///< The same between hosts.
    wait,      ///< Until the next release of a timer that reads the data.
    thread,    ///< In a thread beside an executor, from the arrival of the data to its end.
  };
  Kind kind;         ///< Where.
  std::string name;  ///< The process or the thread; of the others the callback that reads the data.
  nanoseconds time;  ///< At most.
};

/// The bounds of one chain.
struct ChainReport {
  std::string name;                         ///< As declared.
  std::vector<std::string> callbacks = {};  ///< Along the path.
  std::optional<nanoseconds> latency = {};  ///< From a release of the first to the end of the last.
  std::vector<LatencyTerm> terms = {};      ///< Of a robot: the latency is their sum.
  /// Of a robot: the highest share of its data that links lose, in millionths. The bounds are of
  /// what arrives.
  std::int64_t loss = 0;
  std::optional<nanoseconds> reaction = {};  ///< The same from an event that the first just missed.
  std::optional<nanoseconds> age = {};       ///< Of the data at the end of the last.
  std::optional<nanoseconds> max_latency = {};  ///< The declared limit of the latency.
  Verdict verdict = Verdict::not_proved;        ///< About max_latency.
  std::string bound_by = {};                    ///< Paper and equation.
};

/// The bound on the age of data that a callback reads, at its start.
struct AgeReport {
  std::string callback;  ///< The reader.
  std::string topic;     ///< What it reads.
  std::string source;    ///< The task whose release samples the data; empty: outside.
  std::optional<nanoseconds> age = {};    ///< Bound; nothing: not found.
  nanoseconds max_age{0};                 ///< The declared limit.
  Verdict verdict = Verdict::not_proved;  ///< About max_age.
  std::string bound_by = {};              ///< Paper and equation.
};

/// The largest factors for execution times with which every deadline is still guaranteed, within
/// 0.1 %. Overheads of messages and dispatching are not scaled. Of a robot of several processes:
/// for all callbacks at once only, and with them each latency of a chain is guaranteed, too.
struct Sensitivity {
  /// For all callbacks at once; nothing: not even with 0, or no test.
  std::optional<double> all = {};
  /// For one callback only; 0: at no execution time.
  std::vector<std::pair<std::string, double>> callbacks = {};
  std::size_t left_out = 0;  ///< Callbacks that are missing above: too much to compute.
};

/// The results of one scenario.
struct ScenarioReport {
  std::string name;                             ///< Name of the scenario.
  std::string policy;                           ///< Name of its policy.
  Verdict deadlines = Verdict::not_proved;      ///< About the deadlines of all callbacks.
  Verdict verdict = Verdict::not_proved;        ///< About deadlines, chains and ages.
  std::vector<CoreReport> cores = {};           ///< By core.
  std::vector<CallbackReport> callbacks = {};   ///< In the order of the application.
  std::vector<ChainReport> chains = {};         ///< In the order of the application.
  std::vector<AgeReport> ages = {};             ///< By reader.
  std::optional<Sensitivity> sensitivity = {};  ///< If requested.
  /// Priorities (Audsley) that would guarantee every deadline, if the declared ones do not. Checked
  /// by a complete analysis. Of a robot: for each process by itself, beside the others as they are;
  /// with them the whole robot has to be analysed again.
  std::vector<std::pair<std::string, int>> priorities = {};
  /// Cores that would guarantee every deadline, if the present ones do not. Checked by a complete
  /// analysis.
  std::vector<std::pair<std::string, int>> cpus = {};
  /// Of a robot of several processes: all of them, with cores, priorities and policies that would
  /// guarantee every limit, or more of them than the present ones.
  std::vector<application::Process> processes = {};
  std::vector<std::string> remarks = {};  ///< What the analysis leaves out or assumes.
};

/// The verdict about all limits around a switch of the scenario.
struct SwitchReport {
  Verdict verdict = Verdict::not_proved;  ///< About all limits.
  std::string bound_by = {};              ///< The argument, or why the limits are not proved.
  /// Of callbacks of a robot, by name, around switches and elsewhere; what is not there has no
  /// bound.
  std::map<std::string, nanoseconds> responses = {};
  /// The same of its chains. No reaction and no age has one.
  std::map<std::string, nanoseconds> latencies = {};
};

/// The results of an application.
struct Report {
  std::string application;                     ///< Its name.
  std::string policy;                          ///< Its policy.
  application::Overheads overheads = {};       ///< What the bounds include.
  Verdict verdict = Verdict::not_proved;       ///< The worst of all scenarios and switches.
  std::vector<ScenarioReport> scenarios = {};  ///< In the order of the strategy.
  std::optional<SwitchReport> switches = {};   ///< Nothing if there is one scenario.
  std::vector<std::string> remarks = {};       ///< About the whole application.
};

}  // namespace takt::analysis
