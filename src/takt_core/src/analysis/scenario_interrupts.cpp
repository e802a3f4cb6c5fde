// SPDX-License-Identifier: Apache-2.0
//
// What takes time from the jobs of a core: releases that are noticed, and declared interrupts.
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

void ScenarioModel::add_interrupts(const application::Application& application) {
  for (CoreDemands& core : cores_) {
    // Noticing a release takes time from whatever runs.
    for (std::size_t i = 0; release_overhead_.count() > 0 && i < core.jobs; ++i) {
      Demand interrupt = core.demands[i];
      interrupt.execution = application.overheads.release;
      interrupt.notice = {};
      interrupt.deadline = never;
      interrupt.level = interrupt_level;
      interrupt.ceiling = sched::no_ceiling;
      interrupt.sections.clear();
      interrupt.boosted = sched::no_ceiling;
      interrupt.interrupt = true;
      interrupt.waits = false;
      core.demands.push_back(interrupt);
      core.streams.push_back(nobody);
    }
    const application::Core* const declared = application.find_core(core.cpu);
    for (std::size_t i = 0; declared != nullptr && i < declared->interrupts.size(); ++i) {
      const application::Interrupts& source = declared->interrupts[i];
      core.demands.push_back(
          {.task = nobody,
           .releases = {.period = source.period,
                        .jitter = (source.burst - 1) * source.period + source.jitter},
           .execution = source.duration,
           .level = interrupt_level,
           .interrupt = true});
      core.streams.push_back(nobody);
    }
  }
}

}  // namespace takt::analysis
