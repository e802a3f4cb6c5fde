// SPDX-License-Identifier: Apache-2.0
#include "demand_curve.hpp"

#include <algorithm>
#include <cmath>

namespace takt::analysis {
namespace {

// The shortest time to a deadline, from the noticing of the job, among the jobs that this one can
// keep waiting: those of levels up to its ceiling.
nanoseconds shortest_held_up(std::span<const Load> loads, std::size_t blocker, bool preemptive) {
  nanoseconds shortest = never;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Load& load = loads[i];
    const bool held_up = !preemptive || load.level <= loads[blocker].ceiling;
    if (i != blocker && !load.interrupt && held_up) {
      shortest = std::min(shortest, load.deadline - load.lag);
    }
  }
  return shortest;
}

}  // namespace

DemandCurve::DemandCurve(std::span<const Load> loads, bool preemptive) {
  entries_.reserve(loads.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Load& load = loads[i];
    // An interrupt is served at once: due in the moment in which it comes.
    entries_.push_back({.releases = load.releases,
                        .execution = load.execution,
                        .delay = load.interrupt ? -load.lag : load.deadline - load.lag});
    shares_.push_back(utilisation(load));
    const bool keeps_core = !preemptive || load.ceiling != sched::no_ceiling;
    if (load.interrupt || !keeps_core || load.execution.count() <= 1) {
      continue;
    }
    const nanoseconds from = shortest_held_up(loads, i, preemptive);
    // It started before the interval, at least 1 ns, and is due after its end.
    const nanoseconds until = load.deadline - nanoseconds{1};
    if (from < until) {
      blockers_.push_back(
          {.from = from, .until = until, .longest = load.execution - nanoseconds{1}});
    }
  }
}

nanoseconds DemandCurve::at(nanoseconds length) const noexcept {
  nanoseconds sum{0};
  for (const Entry& entry : entries_) {
    const nanoseconds window = length - entry.delay;
    if (window.count() >= 0) {
      sum += entry.releases.closed(window) * entry.execution;
    }
  }
  return sum;
}

std::optional<nanoseconds> DemandCurve::change_before(nanoseconds length) const noexcept {
  std::optional<nanoseconds> last;
  for (const Entry& entry : entries_) {
    const nanoseconds window = length - nanoseconds{1} - entry.delay;
    if (window.count() < 0) {
      continue;
    }
    const nanoseconds change = entry.delay + entry.releases.time(entry.releases.closed(window) - 1);
    last = std::max(last.value_or(change), change);
  }
  return last;
}

nanoseconds DemandCurve::blocking(nanoseconds length) const noexcept {
  nanoseconds longest{0};
  for (const Blocker& blocker : blockers_) {
    if (blocker.from <= length && length < blocker.until) {
      longest = std::max(longest, blocker.longest);
    }
  }
  return longest;
}

nanoseconds DemandCurve::longest_blocking() const noexcept {
  nanoseconds longest{0};
  for (const Blocker& blocker : blockers_) {
    longest = std::max(longest, blocker.longest);
  }
  return longest;
}

std::vector<nanoseconds> DemandCurve::blocking_changes() const {
  std::vector<nanoseconds> changes;
  for (const Blocker& blocker : blockers_) {
    changes.push_back(blocker.from);
    changes.push_back(blocker.until);
  }
  std::ranges::sort(changes);
  changes.erase(std::ranges::unique(changes).begin(), changes.end());
  return changes;
}

std::optional<nanoseconds> DemandCurve::horizon() const noexcept {
  // h(t) <= sum of (t - delay + jitter + period) * share once no term is negative; with B added it
  // is below t from this length on (Zhang & Burns 2009, the bound L_a).
  double share = 0;
  double constant = static_cast<double>(longest_blocking().count());
  nanoseconds least{0};
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const nanoseconds slack = entry.releases.period + entry.releases.jitter - entry.delay;
    share += shares_[i];
    constant += static_cast<double>(slack.count()) * shares_[i];
    least = std::max(least, -slack);
  }
  if (share > 1 - 1e-7) {
    return {};
  }
  const double bound = constant / (1 - share);
  if (bound > 1e18) {
    return {};
  }
  return std::max(least, nanoseconds{static_cast<std::int64_t>(std::max(bound, 0.0)) + 2});
}

}  // namespace takt::analysis
