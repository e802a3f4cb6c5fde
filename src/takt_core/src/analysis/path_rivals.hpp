// SPDX-License-Identifier: Apache-2.0
//
// The links of a net as rivals of paths (docs/reference/analysis.md, eq. 17): what is the same for
// all paths over their core.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "arrival_count.hpp"
#include "chain_paths.hpp"
#include "path_work.hpp"

namespace takt::analysis {

struct LinkRival {
  std::size_t link = 0;
  std::size_t root = 0;
  sched::Level level = sched::no_ceiling;
  bool known = false;   // when its jobs have ended
  bool blocks = false;  // a job that has started may keep the core from others
  PathRival jobs = {};  // all of them
};

class PathRivals {
 public:
  // The net must outlive it.
  explicit PathRivals(const ChainNet& net) {
    releases_.reserve(net.links.size());
    for (const ChainLink& link : net.links) {
      releases_.emplace_back(link.demand->releases);
    }
    cores_.resize(net.cores.size());
    for (std::size_t core = 0; core < cores_.size(); ++core) {
      for (const Demand& interrupt : net.cores[core].interrupts) {
        cores_[core].interrupts.emplace_back(interrupt.releases);
      }
      for (const std::size_t link : net.cores[core].links) {
        cores_[core].links.push_back(rival(net, link));
      }
    }
  }

  [[nodiscard]] std::span<const LinkRival> links(std::size_t core) const {
    return cores_[core].links;
  }
  // Of declared interrupts, in their order.
  [[nodiscard]] std::span<const ArrivalCount> interrupts(std::size_t core) const {
    return cores_[core].interrupts;
  }

 private:
  struct Core {
    std::vector<LinkRival> links;
    std::vector<ArrivalCount> interrupts;
  };

  [[nodiscard]] LinkRival rival(const ChainNet& net, std::size_t i) const {
    const ChainLink& link = net.links[i];
    const bool known = net.latencies[i] && releases_[link.root].arrivals().period.count() > 0;
    return {.link = i,
            .root = link.root,
            .level = link.demand->level,
            .known = known,
            .blocks = !net.cores[link.core].by_level || link.demand->ceiling > link.demand->level,
            .jobs = {.releases = &releases_[link.root],
                     .offset = link.offset,
                     .end = known ? *net.latencies[i] : nanoseconds{0},
                     .execution = link.demand->execution}};
  }

  std::vector<ArrivalCount> releases_;  // by link
  std::vector<Core> cores_;
};

}  // namespace takt::analysis
