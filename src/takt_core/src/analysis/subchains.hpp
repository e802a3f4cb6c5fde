// SPDX-License-Identifier: Apache-2.0
//
// Subchains: maximal parts of chains on one core, in which each callback is released by the
// messages of the one before. From the release of the first callback until the last one has ended,
// one of their jobs is always ready. So they are analysed as one unit, in one busy period, and what
// comes before them counts once (Palencia & González Harbour 1998, 1999).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// A stream on a core as part of its subchain.
struct SubchainLink {
  const Demand* demand = nullptr;
  // The link whose ends release it; nobody: it is the first of its subchain.
  std::size_t before = nobody;
  std::size_t first = 0;  // of its subchain
  nanoseconds offset{0};  // from the release of the first to its own, at least
  // Of the first of a subchain: the link of another one on this core that leads to it, over other
  // cores or with a late notice.
  std::size_t follows = nobody;
  nanoseconds apart{0};            // from the message of `follows` to its release, at least
  const Arrivals* root = nullptr;  // of the whole chain. From its release
  nanoseconds from_root{0};        // to its own, at least,
  std::optional<nanoseconds> until_noticed = {};  // to its notice, at most, and
  std::optional<nanoseconds> until = {};          // to its end, as assumed; nothing: not known
  nanoseconds message_after{0};                   // from its release to its message, at least
  bool overlaps = false;  // its message may come before its job has computed all
  bool early = true;      // other subchains to which it leads may come before its job has ended
};

// The streams of one core. None waits or is boosted, and the core is never idle while one is ready.
struct Subchains {
  std::vector<SubchainLink> links;  // `before` has a smaller index
  std::vector<const Demand*> interrupts;
  // A release that waited for the job before it may be noticed when that job ends, which takes so
  // long.
  nanoseconds late_notice{0};
  Supply supply = {};

  [[nodiscard]] const Demand& demand(std::size_t link) const noexcept {
    return *links[link].demand;
  }
  // From the first link to this one.
  [[nodiscard]] std::vector<std::size_t> path(std::size_t link) const;
  // By link: whether it follows this one, directly or not.
  [[nodiscard]] std::vector<bool> behind(std::size_t link) const;
  // By link: whether its job may run although a job of this one, whose message has led to it, has
  // not ended. `preempts`: whether jobs of a link may preempt those of this one.
  template <class Preempts>
  [[nodiscard]] std::vector<bool> within(std::size_t link, Preempts preempts) const {
    std::vector<bool> result(links.size(), false);
    for (std::size_t i = link + 1; i < links.size(); ++i) {
      const std::size_t before = links[i].before;
      result[i] = before != nobody && (before == link || result[before]) && preempts(demand(i));
    }
    return result;
  }
};

// Until the end of a link.
struct SubchainBounds {
  Response from_first;  // from the release of the first link of its subchain, and
  Response from_root;   // from that of its root, where this may be less than with `until_noticed`
};

// Fixed priorities, docs/reference/analysis.md, eq. 15, 42 and 45: until the end of `last`.
// `by_level` is false for a policy that only keeps the core busy: all other work counts. No bound
// if there is none, or `effort` is used up; eq. 45 and `from_root` only as far as `more` goes.
SubchainBounds subchain_by_priority(const Subchains& core, std::size_t last, bool by_level,
                                    Effort& effort, Effort& more);

// Earliest deadline first, eq. 16, without exclusive groups: the same. `latencies`: the bounds for
// the links before `last`.
Response subchain_by_deadline(const Subchains& core, std::size_t last,
                              std::span<const std::optional<nanoseconds>> latencies,
                              bool preemptive, Effort& effort);

}  // namespace takt::analysis
