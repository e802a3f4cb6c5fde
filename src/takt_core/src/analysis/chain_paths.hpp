// SPDX-License-Identifier: Apache-2.0
//
// Chains across cores. What comes before the jobs of a chain is counted once for the whole path,
// not again at each callback, and jobs of the same chain only where two of its instances can exist
// at the same time (path analysis, Schliecker & Ernst 2009).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bounds.hpp"
#include "takt/analysis/demand.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// A stream as a link of a chain.
struct ChainLink {
  const Demand* demand = nullptr;
  std::size_t before = nobody;  // whose ends release it
  std::size_t root = 0;         // the first link, which time or the environment releases
  std::size_t number = 0;       // among the links with this root
  std::size_t first = 0;        // of those that are joined up to here
  std::size_t core = 0;
  nanoseconds offset{0};         // from the release of the root to its own, at least
  nanoseconds since_first{0};    // the same from the release of `first`
  bool joined = false;           // on the core of the link before, and noticed at once
  bool overlaps = false;         // its messages may come before its job has computed all
  nanoseconds message_after{0};  // from the start of a job to its message, at least
};

// What holds on a core.
struct ChainCore {
  std::vector<std::size_t> links;
  bool never_idles = false;  // a job runs while one is ready; none waits or is boosted
  bool usable = false;       // the same, and one runs at a time
  bool by_deadline = false;  // by deadlines alone, without exclusive groups
  bool by_level = false;     // by levels. Neither: all other work counts
  bool preemptive = true;
  Supply supply = {};
  std::span<const Demand> interrupts = {};  // declared ones
};

struct ChainNet {
  std::vector<ChainLink> links;  // by stream; `before` has a smaller index
  std::vector<ChainCore> cores;
  std::vector<std::vector<std::size_t>> instances;  // by link: those that have it as root
  nanoseconds release_overhead{0};
  // By stream: from the release of its root to its end, as assumed (Jitters).
  std::span<const std::optional<nanoseconds>> latencies;
};

// Bounds the paths of a net, one after the other in the same memory.
class PathLatencies {
 public:
  // The net must outlive it.
  explicit PathLatencies(const ChainNet& net);
  ~PathLatencies();
  PathLatencies(const PathLatencies&) = delete;
  PathLatencies& operator=(const PathLatencies&) = delete;
  PathLatencies(PathLatencies&&) = delete;
  PathLatencies& operator=(PathLatencies&&) = delete;

  // docs/reference/analysis.md, eq. 17: from the release of the root to the end of `last`. No bound
  // if there is none below `known`, or `effort` is used up.
  [[nodiscard]] Response until(std::size_t last, const Bound& known, Effort& effort);

 private:
  class PathTest;
  std::unique_ptr<PathTest> test_;
};

}  // namespace takt::analysis
