// SPDX-License-Identifier: Apache-2.0
//
// What takes time from the jobs of a core: releases that are noticed, and declared interrupts.
#include "cores_of_threads.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "threads.hpp"

namespace takt::analysis {

// Of the core, or of all cores if each has a thread that takes what is ready.
application::Core ScenarioModel::declared_for(const application::Application& application,
                                              int cpu) const {
  if (has_several_threads(application, *scenario_)) {
    return together(application.cores);
  }
  const application::Core* const declared = application.find_core(cpu);
  return declared == nullptr ? application::Core{} : *declared;
}

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
    for (const application::Interrupts& source : declared_for(application, core.cpu).interrupts) {
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
