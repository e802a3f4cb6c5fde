// SPDX-License-Identifier: Apache-2.0
#include "demand_curve.hpp"

#include <algorithm>
#include <cmath>

namespace takt::analysis {

DemandCurve::DemandCurve(std::span<const Demand> demands, bool preemptive, const Supply& supply)
    : blocking_(demands, preemptive, supply) {
  entries_.reserve(demands.size());
  for (const Demand& demand : demands) {
    // An interrupt is served at once: due in the moment in which it comes.
    entries_.push_back({.releases = ArrivalCount{demand.releases},
                        .execution = demand.execution,
                        .delay = demand.interrupt ? -demand.lag : demand.deadline - demand.lag});
    if (!demand.interrupt) {
      first_due_ = std::min(first_due_, entries_.back().delay);
    }
    shares_.push_back(utilization(demand));
  }
  add_blocks();
}

void DemandCurve::add_blocks() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const Arrivals& releases = entry.releases.arrivals();
    if (releases.period.count() <= 0 || releases.distance.count() > 0) {
      blocks_.clear();
      return;
    }
    if (i % 4 == 0) {
      blocks_.emplace_back();
    }
    Block& block = blocks_.back();
    // Half a nanosecond on top keeps the quotient away from integers, whichever way it is rounded.
    block.delay[i % 4] = static_cast<double>((entry.delay - releases.jitter).count()) - 0.5;
    block.per_ns[i % 4] = 1 / static_cast<double>(releases.period.count());
    block.execution[i % 4] = static_cast<double>(entry.execution.count());
    blocks_from_ = std::max(blocks_from_, entry.delay);
    work_ += entry.execution;
  }
}

// All numbers are integers below 2^53, so doubles hold them exactly.
std::optional<nanoseconds> DemandCurve::at_once(nanoseconds length) const noexcept {
  constexpr nanoseconds most{std::int64_t{1} << 50};
  if (blocks_.empty() || length < blocks_from_ || length > most || work_ > most) {
    return {};
  }
  constexpr double rounds = 6755399441055744;  // 1.5 * 2^52: adding it leaves no room for fractions
  const auto time = static_cast<double>(length.count());
  Lanes sum{};
  for (const Block& block : blocks_) {
    const Lanes periods = ((time - block.delay) * block.per_ns - 0.5 + rounds) - rounds;
    sum += periods * block.execution;
  }
  return work_ + nanoseconds{static_cast<std::int64_t>(sum[0] + sum[1] + sum[2] + sum[3])};
}

nanoseconds DemandCurve::at(nanoseconds length) const noexcept {
  if (const auto sum = at_once(length)) {
    return *sum;
  }
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

std::optional<nanoseconds> DemandCurve::horizon(const Supply& supply) const noexcept {
  // h(t) <= sum of (t - delay + jitter + period) * share once no term is negative; with B added it
  // is below what the core provides from this length on (Zhang & Burns 2009, the bound L_a).
  double share = 0;
  double constant = static_cast<double>(blocking_.longest().count()) +
                    supply.rate() * static_cast<double>(supply.delay().count());
  nanoseconds least{0};
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const Arrivals& releases = entry.releases.arrivals();
    const nanoseconds slack = releases.period + releases.jitter - entry.delay;
    share += shares_[i];
    constant += static_cast<double>(slack.count()) * shares_[i];
    least = std::max(least, -slack);
  }
  if (share > supply.rate() - 1e-7) {
    return {};
  }
  const double bound = constant / (supply.rate() - share);
  if (bound > 1e18) {
    return {};
  }
  return std::max(least, nanoseconds{static_cast<std::int64_t>(std::max(bound, 0.0)) + 2});
}

}  // namespace takt::analysis
