// SPDX-License-Identifier: Apache-2.0
//
// The origin of the vertices of a schedule graph: from a missed deadline back to the run that leads
// to it.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "graph_level.hpp"

namespace takt::analysis {

class Ancestry {
 public:
  void add(const Vertex& vertex) { nodes_.push_back({.vertex = vertex}); }
  void widen(std::uint32_t id, const Vertex& by) {
    nodes_[id].vertex.latest = std::max(nodes_[id].vertex.latest, by.latest);
  }
  // `end`: the latest end of the starting job.
  void link(std::uint32_t child, std::uint32_t parent, const Start& start, TimePoint end) {
    edges_.push_back({.parent = parent, .next = nodes_[child].edge, .start = start, .end = end});
    nodes_[child].edge = static_cast<std::uint32_t>(edges_.size() - 1);
  }

  // A run that leads to this start in this vertex, with start and execution times, without the job
  // itself.
  [[nodiscard]] std::vector<PlacedJob> run_to(std::uint32_t vertex, TimePoint start,
                                              std::span<const PeriodicTask> tasks) const;

 private:
  struct Node {
    Vertex vertex;
    std::uint32_t edge = no_vertex;
  };
  struct Edge {
    std::uint32_t parent = no_vertex;
    std::uint32_t next = no_vertex;  // into the same vertex
    Start start;
    TimePoint end;
  };

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
};

}  // namespace takt::analysis
