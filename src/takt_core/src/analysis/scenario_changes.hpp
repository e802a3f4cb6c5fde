// SPDX-License-Identifier: Apache-2.0
//
// A robot whose processes follow scenarios, each by itself, as bounds across switches see it
// (docs/reference/analysis.md, eq. 43): the densest releases of all scenarios, and the longest
// distance between them. When a process learns of a switch does not matter, for its bounds hold for
// switches at any times, and others know of it only how densely its jobs and messages come.
#pragma once

#include <string>
#include <vector>

#include "takt/analysis/report.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

// What scenarios make of one callback.
struct ScenarioChange {
  bool changes = false;              // at all
  bool pauses = false;               // it is inactive in some
  nanoseconds longest_period{0};     // of its releases
  nanoseconds shortest_offset{0};    // of a timer
  nanoseconds shortest_deadline{0};  // relative; 0: it has none
  nanoseconds longest_deadline{0};   // 0: it has none in some
  sched::Level lowest_level{};       // over the scenarios that have it
  sched::Level highest_level{};
};

class ScenarioChanges {
 public:
  // `robot`: with its scenarios, and with threads as processes. Throws sched::ScheduleError for
  // scenarios that cannot be.
  explicit ScenarioChanges(const application::Application& robot);

  // Why the bounds do not hold; empty: they do.
  [[nodiscard]] std::string not_covered() const;

  // The robot without scenarios: each callback with the shortest period and deadline and the
  // longest execution of all; active if it is in any.
  [[nodiscard]] const application::Application& densest() const noexcept { return densest_; }

  // The same with the longest periods, for what waits for a release.
  [[nodiscard]] const application::Application& sparsest() const noexcept { return sparsest_; }

  // Whether a scenario changes anything in the process.
  [[nodiscard]] bool changes(std::size_t process) const { return changed_[process]; }

  // From each switch to the next, at least, so that the bounds hold; 0: any time. A timer that was
  // inactive counts its offset from the switch: it may be released again before its period is over.
  [[nodiscard]] nanoseconds least_stay() const;

  // By name.
  [[nodiscard]] const ScenarioChange& of(const std::string& callback) const;

  // A callback of the chain, after its first one, that some scenarios leave out: data may wait for
  // it. Empty: none.
  [[nodiscard]] std::string pausing_in(const application::Chain& chain) const;

 private:
  void unite(const std::vector<application::Application>& scenarios);
  [[nodiscard]] std::string not_covered(std::size_t callback) const;
  [[nodiscard]] std::string not_covered_process(std::size_t process) const;
  [[nodiscard]] std::string not_covered_input(std::size_t callback) const;
  [[nodiscard]] std::string not_covered_chains() const;

  const application::Application& robot_;
  application::Application densest_;
  application::Application sparsest_;
  std::vector<ScenarioChange> of_;  // by callback
  std::vector<bool> changed_;       // by process
};

}  // namespace takt::analysis
