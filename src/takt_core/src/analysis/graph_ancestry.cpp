// SPDX-License-Identifier: Apache-2.0
#include "graph_ancestry.hpp"

namespace takt::analysis {

std::vector<PlacedJob> Ancestry::run_to(std::uint32_t vertex, TimePoint start,
                                        std::span<const PeriodicTask> tasks) const {
  std::vector<PlacedJob> run;
  for (;;) {
    const Node& node = nodes_[vertex];
    const TimePoint free = std::min(start, node.vertex.latest);
    std::uint32_t edge = node.edge;
    TimePoint end = free;
    for (; edge != no_vertex; edge = edges_[edge].next) {
      const Start& before = edges_[edge].start;
      end = std::min(free, edges_[edge].end);
      if (before.first + tasks[before.task].best <= end &&
          (end == free || free <= node.vertex.quiet)) {
        break;
      }
    }
    if (edge == no_vertex) {
      std::ranges::reverse(run);
      return run;
    }
    const Start& before = edges_[edge].start;
    start = std::clamp(end - tasks[before.task].worst, before.first, before.last);
    run.push_back(
        {.task = before.task, .start = start.time_since_epoch(), .execution = end - start});
    vertex = edges_[edge].parent;
  }
}

}  // namespace takt::analysis
