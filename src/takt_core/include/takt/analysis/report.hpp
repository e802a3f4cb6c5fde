// SPDX-License-Identifier: Apache-2.0
//
// What an analysis found: for each scenario the bound of each callback's response, of each chain
// and of the age of what is read. A bound that was not found, or that is above its limit, says "not
// proved"; "misses" only where the run that misses is known.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/application/application.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

using std::chrono::nanoseconds;

enum class Verdict : std::uint8_t {
  meets,       // in every run
  not_proved,  // neither proved nor refuted
  // In the run in which all are released together and compute as long as they may, or in one that
  // the schedule graph shows.
  misses,
};
TAKT_CORE_PUBLIC std::string_view text(Verdict verdict) noexcept;

struct CallbackReport {
  std::string name;
  int cpu = 0;
  int priority = 0;                          // 0: the policy goes by deadlines
  std::optional<nanoseconds> period = {};    // of what releases it; none: nothing does, or no bound
  std::optional<nanoseconds> deadline = {};  // none: none declared
  nanoseconds wcet{0};                       // overheads included
  nanoseconds suspension{0};                 // that one job waits while others run
  nanoseconds jitter{0};                     // of its releases, beyond the period
  std::optional<nanoseconds> response = {};  // from its release to its end
  nanoseconds blocking{0};                   // part of the response
  Verdict verdict = Verdict::not_proved;
  // The response is reached: in the run in which all are released together, or, by the schedule
  // graph, in some run.
  bool exact = false;
  std::string bound_by = {};  // paper and equation, see docs/reference/analysis.md
};

struct CoreReport {
  int cpu = 0;
  double utilization = 0;
  Verdict verdict = Verdict::not_proved;
  std::string bound_by = {};
};

struct ChainReport {
  std::string name;
  std::vector<std::string> callbacks = {};
  std::optional<nanoseconds> latency = {};   // release of the first to the end of the last
  std::optional<nanoseconds> reaction = {};  // the same from an event that the first just missed
  std::optional<nanoseconds> age = {};       // of the data at the end of the last
  std::optional<nanoseconds> max_latency = {};
  Verdict verdict = Verdict::not_proved;
  std::string bound_by = {};
};

// Of what a callback reads, when it starts.
struct AgeReport {
  std::string callback;
  std::string topic;
  std::string source;  // whose release is the time of sampling; empty: outside
  std::optional<nanoseconds> age = {};
  nanoseconds max_age{0};
  Verdict verdict = Verdict::not_proved;
  std::string bound_by = {};
};

// The largest factor for execution times with which every deadline is still guaranteed, within
// 0.1 %; messages and dispatching stay as they are.
struct Sensitivity {
  std::optional<double> all = {};  // none: not even with nothing to compute, or no test
  std::vector<std::pair<std::string, double>> callbacks = {};  // of one alone; 0: whatever it takes
  std::size_t left_out = 0;  // callbacks that are not among them: too much to compute
};

struct ScenarioReport {
  std::string name;
  std::string policy;
  Verdict deadlines = Verdict::not_proved;  // of all callbacks
  Verdict verdict = Verdict::not_proved;    // with chains and ages
  std::vector<CoreReport> cores = {};
  std::vector<CallbackReport> callbacks = {};
  std::vector<ChainReport> chains = {};
  std::vector<AgeReport> ages = {};
  std::optional<Sensitivity> sensitivity = {};
  // What would guarantee every deadline, where the description does not: priorities (Audsley), or
  // cores. Checked by a whole analysis.
  std::vector<std::pair<std::string, int>> priorities = {};
  std::vector<std::pair<std::string, int>> cpus = {};
  std::vector<std::string> remarks = {};
};

// Of all limits around a switch of the scenario.
struct SwitchReport {
  Verdict verdict = Verdict::not_proved;
  std::string bound_by = {};  // or why they are not proved
};

struct Report {
  std::string application;
  std::string policy;
  application::Overheads overheads = {};
  Verdict verdict = Verdict::not_proved;
  std::vector<ScenarioReport> scenarios = {};
  std::optional<SwitchReport> switches = {};  // none: there is one scenario
  std::vector<std::string> remarks = {};
};

}  // namespace takt::analysis
