// SPDX-License-Identifier: Apache-2.0
//
// Bounds along the way of data: latencies of chains, and ages of what is read.
#pragma once

#include <vector>

#include "takt/analysis/report.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

class Paths {
 public:
  Paths(const application::Application& application, const sched::CompiledStrategy& strategy,
        const sched::CompiledScenario& scenario, const ScenarioModel& model,
        const ScenarioBounds& bounds);

  [[nodiscard]] ChainReport chain(const application::Chain& chain) const;
  [[nodiscard]] AgeReport age(const sched::AgeConstraint& constraint) const;

 private:
  // The longest response over all that releases the callback; none: no bound, or never released.
  [[nodiscard]] std::optional<nanoseconds> response(std::size_t callback) const;
  // The longest time between two of its releases; none: no bound.
  [[nodiscard]] std::optional<nanoseconds> gap(std::size_t callback) const;
  // Whether releases may be dropped because the job before has not ended.
  [[nodiscard]] bool may_drop(std::size_t callback) const;

  // A job of `first`, and one of `then` that is released when it is noticed or later: whether the
  // first one always ends before the other one starts.
  [[nodiscard]] bool ends_first(std::size_t first, std::size_t then) const;
  // The same, whenever the other one was released.
  [[nodiscard]] bool always_first(std::size_t first, std::size_t then) const;
  [[nodiscard]] nanoseconds lag(std::size_t callback) const {
    return application_.callbacks[callback].jitter;
  }
  [[nodiscard]] bool kept_by_early_releases(const sched::AgeConstraint& constraint) const;
  [[nodiscard]] std::optional<nanoseconds> kept_age(const sched::AgeConstraint& constraint) const;
  [[nodiscard]] std::optional<nanoseconds> way(std::size_t stream) const;

  // A chain as far as it was followed. A stretch is a head that time (or another topic) releases,
  // and what its messages release.
  struct Walk {
    std::size_t head = 0;
    std::size_t before = 0;                   // the last callback
    std::optional<nanoseconds> stretch = {};  // release of the head to the end of the last
    std::optional<nanoseconds> latency = nanoseconds{0};  // to the release of the head
    std::optional<nanoseconds> age = nanoseconds{0};      // the same backwards
  };
  bool extend(Walk& walk, std::size_t callback) const;

  const application::Application& application_;
  const sched::CompiledStrategy& strategy_;
  const sched::CompiledScenario& scenario_;
  const ScenarioModel& model_;
  const ScenarioBounds& bounds_;
  std::vector<std::vector<std::size_t>> streams_;  // by callback
};

}  // namespace takt::analysis
