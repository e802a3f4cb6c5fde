// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/edf.hpp"

#include <algorithm>

#include "busy_period.hpp"
#include "demand_curve.hpp"

namespace takt::analysis {
namespace {

// Walks one stretch of lengths [from, to) downwards, within which the blocking is constant (so
// h + B does not fall): quick processor-demand analysis (Zhang & Burns 2009). Returns the length at
// which too much is demanded.
std::optional<nanoseconds> walk_down(const DemandCurve& curve, nanoseconds from, nanoseconds to,
                                     std::size_t demands, const Supply& supply, Effort& effort) {
  const nanoseconds blocking = curve.blocking().at(from);
  auto next = curve.change_before(to);
  if (!next) {
    return {};
  }
  // Where h changes before the stretch it has to fit at its beginning, where B may have risen.
  nanoseconds length = std::max(*next, from);
  while (length >= curve.first_due()) {
    if (!effort.spend(demands)) {
      return {};
    }
    const nanoseconds demanded = supply.time_for(curve.at(length) + blocking);
    if (demanded > length) {
      return length;
    }
    if (demanded <= from || length <= from) {
      return {};  // nothing in between demands more
    }
    if (demanded < length) {
      length = demanded;
    } else {
      next = curve.change_before(length);
      length = next ? std::max(*next, from) : from;
    }
  }
  return {};
}

}  // namespace

DemandTest edf_demand(std::span<const Demand> demands, bool preemptive, Effort& effort,
                      const Supply& supply) {
  DemandTest result;
  if (std::ranges::any_of(
          demands, [](const Demand& demand) { return demand.releases.period.count() <= 0; })) {
    return result;
  }
  if (overloaded(demands, supply)) {
    result.outcome = DemandTest::Outcome::exceeded;
    result.at = never;
    return result;
  }
  const DemandCurve curve{demands, preemptive, supply};
  auto end = curve.horizon(supply);
  if (!end || end->count() > 1'000'000'000) {  // a busy period may be shorter
    Effort little{.steps = end ? static_cast<std::int64_t>(demands.size()) * 100 : effort.steps};
    const auto busy = busy_period(demands, curve.blocking().longest(), little, supply);
    if (busy) {
      // Nothing that is released at its end or later is due within it.
      const nanoseconds length = *busy + nanoseconds{1};
      end = end ? std::min(*end, length) : length;
    }
  }
  if (!end) {
    return result;
  }
  std::vector<nanoseconds> cuts = curve.blocking().changes();
  std::erase_if(cuts, [&](nanoseconds cut) { return cut >= *end || cut.count() <= 0; });
  nanoseconds to = *end;
  for (std::size_t i = cuts.size() + 1; i-- > 0;) {
    const nanoseconds from = i > 0 ? cuts[i - 1] : nanoseconds{0};
    if (const auto at = walk_down(curve, from, to, demands.size(), supply, effort)) {
      result.outcome = DemandTest::Outcome::exceeded;
      result.at = *at;
      return result;
    }
    if (effort.steps <= 0) {
      return result;
    }
    to = from;
  }
  result.outcome = DemandTest::Outcome::met;
  return result;
}

}  // namespace takt::analysis
