// SPDX-License-Identifier: Apache-2.0
#include "acceptance.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "boosting.hpp"
#include "edf_blocking.hpp"
#include "lock_blocking.hpp"
#include "suspension.hpp"
#include "takt/analysis/edf.hpp"
#include "takt/analysis/fixed_priority.hpp"

namespace takt::analysis {

namespace {

// Whoever has more needs no short cut, and sums stay far from what fits into an integer.
constexpr nanoseconds longest_room{std::int64_t{1} << 50};
constexpr std::size_t most_points = 16;

}  // namespace

Acceptance::Acceptance(Test test, std::span<const Demand> demands, const Supply& supply)
    : test_(test),
      supply_(supply),
      declared_(demands.begin(), demands.end()),
      separate_(test == Test::fixed_priority && !anyone_waits(demands) &&
                !anyone_boosted(demands) && !anyone_locks(demands)) {
  if (!separate_) {
    return;
  }
  order_.resize(demands.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return demands[i].level; });
  for (const Demand& own : demands) {
    points_.push_back(points_of(demands, own));
  }
  kept_.resize(demands.size());
}

Acceptance::Points Acceptance::points_of(std::span<const Demand> demands, const Demand& own) {
  const nanoseconds room = own.deadline - own.lag;
  if (own.ceiling > own.level || room.count() <= 0 || room >= longest_room) {
    return {};
  }
  nanoseconds blocking{0};
  std::vector<nanoseconds> times{room};
  for (const Demand& other : demands) {
    if (other.releases.period.count() <= 0) {
      if (other.level >= own.level || other.ceiling >= own.level) {
        return {};
      }
    } else if (other.level >= own.level) {
      const auto noticed = other.noticed();
      const nanoseconds last = noticed.time(noticed.closed(room) - 1);
      if (times.size() < most_points && last.count() > 0 && last < room &&
          std::ranges::find(times, last) == times.end()) {
        times.push_back(last);
      }
    } else if (other.ceiling >= own.level) {
      blocking = std::max(blocking, other.execution);
    }
  }
  Points points;
  for (const nanoseconds time : times) {
    nanoseconds work = blocking;
    for (const Demand& other : demands) {
      if (other.level >= own.level && other.releases.period.count() > 0) {
        work += other.noticed().open(time) * other.execution;
      }
    }
    points.push_back({.time = time, .work = work});
  }
  std::ranges::stable_sort(points, std::greater{},
                           [](const Point& point) { return point.time - point.work; });
  return points;
}

// Of each changed demand what it computes more than declared, at most.
bool Acceptance::fits(std::span<const Demand> demands, std::size_t demand,
                      std::span<const std::size_t> changed) const {
  const Demand& own = demands[demand];
  return std::ranges::any_of(points_[demand], [&](const Point& point) {
    nanoseconds work = point.work;
    for (const std::size_t i : changed) {
      const Demand& other = demands[i];
      const nanoseconds more = other.execution - declared_[i].execution;
      if (other.level >= own.level) {
        work += other.noticed().open(point.time) * more;
      } else if (other.ceiling >= own.level && more.count() > 0) {
        work += other.execution;
      }
    }
    return supply_.time_for(work) <= point.time;
  });
}

bool Acceptance::keeps_deadline(std::span<const Demand> demands, std::size_t demand,
                                std::span<const std::size_t> changed, Effort& effort) {
  const Demand& own = demands[demand];
  if (own.interrupt || fits(demands, demand, changed)) {
    return true;
  }
  const bool concerned = std::ranges::any_of(changed, [&](std::size_t i) {
    return demands[i].level >= own.level || demands[i].ceiling >= own.level;
  });
  if (concerned) {
    return fixed_priority_keeps(demands, demand, effort, supply_);
  }
  std::optional<bool>& kept = kept_[demand];
  if (!kept) {
    kept = fixed_priority_keeps(demands, demand, effort, supply_);
  }
  return *kept;
}

bool Acceptance::is_refused_again(std::span<const Demand> demands, Effort& effort) {
  if (overloaded(demands, supply_)) {
    return true;
  }
  if (late_) {
    return !fixed_priority_keeps(demands, *late_, effort, supply_);
  }
  if (!overfull_) {
    return false;
  }
  nanoseconds due{0};
  bool blocked = test_ != Test::edf;
  for (const Demand& demand : demands) {
    const nanoseconds window =
        *overfull_ + demand.lag - (demand.interrupt ? nanoseconds{0} : demand.deadline);
    due += window.count() < 0 ? nanoseconds{0} : demand.releases.closed(window) * demand.execution;
    blocked = blocked || demand.ceiling != sched::no_ceiling || !demand.sections.empty();
  }
  return supply_.time_for(due) > *overfull_ ||
         (blocked && supply_.time_for(due + EdfBlocking{demands, test_ == Test::edf, supply_}.at(
                                                *overfull_)) > *overfull_);
}

bool Acceptance::all_fixed_priorities(std::span<const Demand> demands, Effort& effort) {
  if (overloaded(demands, supply_)) {
    return false;
  }
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (demands[i].execution != declared_[i].execution) {
      changed.push_back(i);
    }
  }
  const auto refused = std::ranges::find_if(
      order_, [&](std::size_t i) { return !keeps_deadline(demands, i, changed, effort); });
  if (refused == order_.end()) {
    return true;
  }
  late_ = *refused;
  return false;
}

bool Acceptance::accepts(std::span<const Demand> demands, Effort& effort) {
  if (separate_) {
    return all_fixed_priorities(demands, effort);
  }
  if (test_ == Test::fixed_priority) {
    return fixed_priority_accepts(demands, effort, supply_);
  }
  if (test_ != Test::edf && test_ != Test::non_preemptive_edf) {
    return analysis::accepts(test_, demands, effort, supply_) == true;
  }
  const DemandTest by_demand = edf_demand(demands, test_ == Test::edf, effort, supply_);
  if (by_demand.outcome == DemandTest::Outcome::exceeded && by_demand.at != never) {
    overfull_ = by_demand.at;
  }
  return by_demand.outcome == DemandTest::Outcome::met;
}

}  // namespace takt::analysis
