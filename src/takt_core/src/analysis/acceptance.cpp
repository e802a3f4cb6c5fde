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
// If more demands need a whole test, one pass over all of them comes first.
constexpr std::size_t most_one_by_one = 4;

// Of the level of `own` and above, in [0, time).
std::int64_t jobs_in(const Demand& demand, const Demand& own, nanoseconds time) {
  return demand.level >= own.level ? demand.noticed().open(time) : 0;
}

// Those before the first job of `own`, until it starts: all of its level that have come by then,
// and all above until `time`.
std::int64_t jobs_before(std::span<const Demand> demands, std::size_t index, std::size_t own,
                         nanoseconds time) {
  const Demand& demand = demands[index];
  if (index == own) {
    return demand.releases.closed(nanoseconds{0}) - 1;
  }
  if (demand.level == demands[own].level) {
    return demand.noticed().closed(nanoseconds{0});
  }
  return demand.level > demands[own].level ? demand.noticed().closed(time) : 0;
}

// What is most likely to fit comes first.
template <class Points, class Jobs>
void add_work(Points& points, std::span<const Demand> demands, Jobs jobs) {
  for (auto& point : points) {
    for (std::size_t i = 0; i < demands.size(); ++i) {
      point.work += jobs(i, point.time) * demands[i].execution;
    }
  }
  std::ranges::stable_sort(points, std::greater{},
                           [](const auto& point) { return point.time - point.work; });
}

}  // namespace

// The last time, and those of the last releases of the level or above until then, less `before`.
Acceptance::Points Acceptance::points_until(std::span<const Demand> demands, const Demand& own,
                                            nanoseconds last, nanoseconds before) {
  Points points;
  if (last.count() >= 0) {
    points.push_back({.time = last});
  }
  for (const Demand& other : demands) {
    if (points.empty() || points.size() == most_points) {
      break;
    }
    if (other.level < own.level) {
      continue;
    }
    const Arrivals noticed = other.noticed();
    const nanoseconds time = noticed.time(noticed.closed(last) - 1) - before;
    if (time.count() > 0 && time < last &&
        std::ranges::find(points, time, &Point::time) == points.end()) {
      points.push_back({.time = time});
    }
  }
  return points;
}

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
  for (std::size_t i = 0; i < demands.size(); ++i) {
    levels_.push_back(level_of(demands, i));
  }
  kept_.resize(demands.size());
}

Acceptance::Level Acceptance::level_of(std::span<const Demand> demands, std::size_t index) const {
  const Demand& own = demands[index];
  const bool keeps_core = own.ceiling > own.level;
  const nanoseconds room = own.deadline - own.lag;
  if (room.count() <= 0 || room >= longest_room || (keeps_core && !supply_.whole())) {
    return {};
  }
  Level level{.keeps_core = keeps_core};
  nanoseconds next = longest_room;  // release of its level, after the first ones
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const Demand& other = demands[i];
    const bool above = other.level >= own.level;
    if ((other.releases.period.count() <= 0 && (above || other.ceiling >= own.level)) ||
        (keeps_core && other.level > own.ceiling)) {
      return {};
    }
    if (!above && other.ceiling >= own.level) {
      level.blocking = std::max(level.blocking, other.longest_hold());
    } else if (other.level == own.level) {
      const Arrivals releases = i == index ? own.releases : other.noticed();
      next = std::min(next, releases.time(releases.closed(nanoseconds{0})));
    }
  }
  level.ends = points_until(demands, own, keeps_core ? next : room, nanoseconds{0});
  add_work(level.ends, demands,
           [&](std::size_t i, nanoseconds time) { return jobs_in(demands[i], own, time); });
  if (keeps_core) {
    level.starts = points_until(demands, own, room - own.execution, nanoseconds{1});
    add_work(level.starts, demands,
             [&](std::size_t i, nanoseconds time) { return jobs_before(demands, i, index, time); });
  }
  return level;
}

// Of each changed demand what it computes more than declared, at most.
bool Acceptance::fits(std::span<const Demand> demands, std::size_t demand,
                      std::span<const std::size_t> changed) const {
  const Demand& own = demands[demand];
  const Level& level = levels_[demand];
  nanoseconds blocking = level.blocking;
  for (const std::size_t i : changed) {
    if (demands[i].level < own.level && demands[i].ceiling >= own.level) {
      blocking = std::max(blocking, demands[i].longest_hold());
    }
  }
  const auto work = [&](const Point& point, auto jobs) {
    nanoseconds sum = point.work + blocking;
    for (const std::size_t i : changed) {
      sum += jobs(i, point.time) * (demands[i].execution - declared_[i].execution);
    }
    return sum;
  };
  const bool ends = std::ranges::any_of(level.ends, [&](const Point& point) {
    const auto jobs = [&](std::size_t i, nanoseconds time) {
      return jobs_in(demands[i], own, time);
    };
    return supply_.time_for(work(point, jobs)) <= point.time;
  });
  if (!ends || !level.keeps_core) {
    return ends;
  }
  return std::ranges::any_of(level.starts, [&](const Point& point) {
    const auto jobs = [&](std::size_t i, nanoseconds time) {
      return jobs_before(demands, i, demand, time);
    };
    return point.time + own.execution + own.lag <= own.deadline && work(point, jobs) <= point.time;
  });
}

namespace {

bool concerns(const Demand& own, std::span<const Demand> demands,
              std::span<const std::size_t> changed) {
  return std::ranges::any_of(changed, [&](std::size_t i) {
    return demands[i].level >= own.level || demands[i].ceiling >= own.level;
  });
}

}  // namespace

// What can be said quickly.
bool Acceptance::is_kept(std::span<const Demand> demands, std::size_t demand,
                         std::span<const std::size_t> changed) const {
  const Demand& own = demands[demand];
  return own.interrupt || (kept_[demand] == true && !concerns(own, demands, changed)) ||
         fits(demands, demand, changed);
}

bool Acceptance::keeps_deadline(std::span<const Demand> demands, std::size_t demand,
                                std::span<const std::size_t> changed, Effort& effort) {
  if (concerns(demands[demand], demands, changed)) {
    return fixed_priority_keeps(demands, demand, effort, supply_);
  }
  std::optional<bool>& kept = kept_[demand];
  if (!kept) {
    kept = fixed_priority_keeps(demands, demand, effort, supply_);
  }
  return *kept;
}

std::vector<std::size_t> Acceptance::changed_of(std::span<const Demand> demands) const {
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (demands[i].execution != declared_[i].execution) {
      changed.push_back(i);
    }
  }
  return changed;
}

bool Acceptance::is_refused_again(std::span<const Demand> demands, Effort& effort) {
  if (overloaded(demands, supply_)) {
    return true;
  }
  if (late_) {
    return !fits(demands, *late_, changed_of(demands)) &&
           !fixed_priority_keeps(demands, *late_, effort, supply_);
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
  const std::vector<std::size_t> changed = changed_of(demands);
  std::vector<std::size_t> open;
  std::ranges::copy_if(order_, std::back_inserter(open),
                       [&](std::size_t i) { return !is_kept(demands, i, changed); });
  if (open.size() > most_one_by_one) {
    if (!sweep_) {
      sweep_.emplace(declared_);
    }
    const PreparedSweep::Left left = sweep_->look(demands, supply_);
    std::erase_if(open, [&](std::size_t i) { return left[i] && left[i]->count() >= 0; });
    // What is refused now is asked first the next time: the latest is most likely to be refused
    // then.
    std::ranges::stable_sort(open, {}, [&](std::size_t i) { return left[i].value_or(never); });
  }
  const auto refused = std::ranges::find_if(
      open, [&](std::size_t i) { return !keeps_deadline(demands, i, changed, effort); });
  if (refused == open.end()) {
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
