// SPDX-License-Identifier: Apache-2.0
//
// Proves misses: in the run in which all timers start together and every job takes its worst case,
// and in every run on an overloaded core. In all other cases a bound above the deadline proves
// nothing.
#pragma once

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

class Certainty {
 public:
  Certainty(const application::Application& application, const sched::CompiledStrategy& strategy,
            const sched::CompiledScenario& scenario, const ScenarioModel& model,
            const ScenarioBounds& bounds)
      : application_(application),
        strategy_(strategy),
        scenario_(scenario),
        model_(model),
        bounds_(bounds) {}

  // Fixed priorities: whether that run reaches the bound of the stream, or misses a deadline
  // before; releases after the miss may be dropped.
  [[nodiscard]] bool reaches_bound_or_misses(std::size_t stream) const;
  // Whether that run reaches the bound.
  [[nodiscard]] bool reaches_bound(std::size_t stream) const;

  // Fixed priorities: whether the levels down to the stream's own need more time than there is.
  [[nodiscard]] bool starves(std::size_t stream) const;

  // Whether a job takes longer than its deadline even without any other job.
  [[nodiscard]] bool outlasts(std::size_t stream) const;

  // Whether some deadline on a core that is not schedulable is missed.
  [[nodiscard]] bool misses(std::size_t core) const;

 private:
  // Released by its own timer, from time 0 on, and noticed at once.
  [[nodiscard]] bool is_simple(std::size_t stream) const;
  // Its execution time contains deliveries and waits that need not occur.
  [[nodiscard]] bool is_padded(std::size_t stream) const;
  // None of its releases is dropped while its deadlines are met.
  [[nodiscard]] bool is_complete(std::size_t stream) const;
  [[nodiscard]] const sched::TaskParameters& parameters(std::size_t stream) const {
    return scenario_.parameters(static_cast<sched::TaskIndex>(model_.streams()[stream].callback));
  }

  const application::Application& application_;
  const sched::CompiledStrategy& strategy_;
  const sched::CompiledScenario& scenario_;
  const ScenarioModel& model_;
  const ScenarioBounds& bounds_;
};

}  // namespace takt::analysis
