// SPDX-License-Identifier: Apache-2.0
#include "graph_remarks.hpp"

#include <algorithm>

#include "../sched/text.hpp"

namespace takt::analysis {
namespace {

using sched::time_text;

constexpr std::size_t most_shown = 8;

// The jobs since the core was idle for the last time, but the one that is late.
std::string jobs_before(const CoreGraph& core, const std::vector<std::string>& names) {
  const std::vector<PlacedJob>& run = core.graph.witness;
  std::size_t first = run.size() - 1;
  while (first > 0 && run[first - 1].start + run[first - 1].execution == run[first].start) {
    --first;
  }
  std::string text;
  if (run.size() - 1 - first > most_shown) {
    first = run.size() - 1 - most_shown;
    text = "... ";
  }
  for (std::size_t i = first; i + 1 < run.size(); ++i) {
    text += (i > first ? ", " : "") + names[run[i].task] + " at " + time_text(run[i].start) +
            " for " + time_text(run[i].execution);
  }
  return text;
}

std::string missed(const CoreGraph& core, const std::vector<std::string>& names) {
  const PlacedJob& late = core.graph.witness.back();
  const std::string jobs = jobs_before(core, names);
  return names[late.task] + ", released at " + time_text(late.release) + ", starts at " +
         time_text(late.start) + " and computes for " + time_text(late.execution) +
         (core.graph.exact ? ", which is too late" : ", which would be too late") +
         (jobs.empty() ? "" : "; before it " + jobs) +
         (core.graph.exact
              ? ""
              : ". Whether that can happen is not certain: what is late, or what overheads cost, "
                "is counted for the worst");
}

}  // namespace

std::vector<std::string> graph_remarks(const ScenarioModel& model, const ScenarioBounds& bounds,
                                       const sched::CompiledStrategy& strategy) {
  std::vector<std::string> remarks;
  for (std::size_t i = 0; i < bounds.graphs.size(); ++i) {
    if (!bounds.graphs[i] || bounds.graphs[i]->graph.outcome == ScheduleGraph::Outcome::met ||
        bounds.cores[i].without_idling) {
      continue;
    }
    const CoreGraph& core = *bounds.graphs[i];
    const std::string where = "core " + std::to_string(model.cores()[i].cpu) + ": ";
    if (core.graph.outcome == ScheduleGraph::Outcome::unknown) {
      remarks.push_back(where + "its schedules were not explored: " + core.graph.reason);
      continue;
    }
    std::vector<std::string> names;
    names.reserve(core.streams.size());
    for (const std::size_t stream : core.streams) {
      names.push_back("'" + strategy.tasks()[model.streams()[stream].callback].name + "'");
    }
    remarks.push_back(where + missed(core, names));
  }
  return remarks;
}

}  // namespace takt::analysis
