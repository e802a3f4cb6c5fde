// SPDX-License-Identifier: Apache-2.0
//
// A process that scenarios change, across switches (docs/reference/analysis.md, eq. 43): a callback
// that time or another process releases, with all that its messages release, is one tree. Of each
// tree, all jobs together are bounded, beside those of other trees that may be before them in any
// two scenarios.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "robot_effects.hpp"
#include "scenario_changes.hpp"
#include "takt/analysis/report.hpp"

namespace takt::analysis {

class ChangedProcess {
 public:
  // `view`: the process in ScenarioChanges::densest(), with all that the others do to it. Both must
  // outlive this object. `steps`: of the search for bounds that are left.
  ChangedProcess(const application::Application& view, const ScenarioChanges& changes,
                 std::int64_t& steps);

  // What it does to the others.
  [[nodiscard]] Effects effects(const application::Application& robot) const;

  // Its bounds, with the chains of the view. Nothing is proved if a tree may be released before its
  // last jobs have ended.
  [[nodiscard]] ScenarioReport report() const;

 private:
  // What is known of a callback.
  struct Unit {
    bool known = false;      // whether anything releases it, as far as found
    std::size_t root = 0;    // of its tree
    std::size_t parent = 0;  // that releases it; of the root: itself
    int cpu = 0;
    Arrivals releases = {};  // as the others see it, each by itself
    Arrivals noticed = {};
    nanoseconds execution{0};
    std::optional<nanoseconds> latency = {};  // from the release of the root to its end
    nanoseconds before{0};                    // from there to its release, at least
    Arrivals published = {};
    double utilization = 0;
    bool on_time = false;  // its deadline is kept, and its tree ends before the next one begins
    std::string bound_by = {};

    [[nodiscard]] std::optional<nanoseconds> response() const;
    friend bool operator==(const Unit&, const Unit&) = default;
  };
  // The process with each callback released by itself, and its demands.
  struct Apart;
  void find_trees();
  [[nodiscard]] bool follows(std::size_t callback, std::size_t from) const;
  [[nodiscard]] application::Application apart() const;
  [[nodiscard]] application::Application beside(const Apart& apart, std::size_t root) const;
  void bound_tree(const Apart& apart, std::size_t root, std::int64_t& steps);
  [[nodiscard]] nanoseconds latest_deadline(std::size_t root) const;
  void judge(std::int64_t& steps);
  [[nodiscard]] ChainReport chain(const application::Chain& chain) const;
  [[nodiscard]] std::optional<std::size_t> find(const std::string& callback) const;

  const application::Application& view_;
  const ScenarioChanges& changes_;
  bool by_deadlines_ = false;
  bool circle_ = false;      // messages release what leads to them
  std::vector<Unit> units_;  // by callback
};

// The bounds of a process with all that the others do to it.
ScenarioReport across_switches(const application::Application& view,
                               const ScenarioChanges& changes);

}  // namespace takt::analysis
