// SPDX-License-Identifier: Apache-2.0
//
// Subchains of another chain on one core: each release of its root leads to one job of each of
// them, at known times after it. So they come as close to each other as the order of that chain and
// the distance of its releases allow (docs/reference/analysis.md, eq. 45).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// What one release of the root leads to in a busy period of others, by one subchain.
struct ChainPart {
  nanoseconds earliest{0};  // from the release of the root until it comes, and
  nanoseconds latest{0};    // until it is there at the beginning of a busy period, at most
  nanoseconds work{0};
  nanoseconds above{0};  // the part of it that comes until `end` in place of `start`
};

class ChainParts {
 public:
  // `distance` of two releases of the root, at least; above 0.
  explicit ChainParts(nanoseconds distance) : distance_(distance) {}

  void add(const ChainPart& part) { parts_.push_back(part); }

  // The first releases that lead to any of it, in all ways that differ, up to `most` ways: as many
  // releases of each as that allows. None if there are more for the first release alone.
  [[nodiscard]] std::vector<std::vector<nanoseconds>> ways(std::size_t most) const;

  // The most that all of them do of what comes in [0, start] of a busy period, and of what is
  // above, in [0, end], if the first releases that lead to any of it are these; none: in any way.
  // Nothing if there are too many releases to look at.
  [[nodiscard]] std::optional<nanoseconds> most(nanoseconds start, nanoseconds end,
                                                std::span<const nanoseconds> first) const noexcept;

  // Of most(), in evaluations of one demand.
  [[nodiscard]] std::size_t effort() const noexcept { return 4 * parts_.size() * parts_.size(); }

 private:
  [[nodiscard]] nanoseconds done(nanoseconds release, nanoseconds start,
                                 nanoseconds end) const noexcept;

  nanoseconds distance_;
  std::vector<ChainPart> parts_;
};

}  // namespace takt::analysis
