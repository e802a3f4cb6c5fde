// SPDX-License-Identifier: Apache-2.0
#include "prepared_sweep.hpp"

#include <algorithm>
#include <numeric>

namespace takt::analysis {
namespace {

// Near a full core it takes an exact sum to say whether a level has too much to do.
constexpr double near = 2e-9;
constexpr double most_releases = 1e6;

}  // namespace

PreparedSweep::PreparedSweep(std::span<const Demand> demands) : order_(demands.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, std::ranges::greater{},
                           [&](std::size_t i) { return demands[i].level; });
  for (std::size_t place = 0; place < order_.size(); ++place) {
    const Demand& demand = demands[order_[place]];
    if (levels_.empty() || levels_.back().level != demand.level) {
      levels_.push_back({.begin = place, .end = place, .level = demand.level});
    }
    ++levels_.back().end;
    noticed_.push_back(demand.noticed());
    bounded_ = bounded_ && demand.releases.period.count() > 0;
    rate_ += 1 / static_cast<double>(std::max<std::int64_t>(1, demand.releases.period.count()));
  }
  execution_.resize(order_.size());
}

// The longest that may keep each level out.
std::vector<nanoseconds> PreparedSweep::blocking(std::span<const Demand> demands,
                                                 const Supply& supply) const {
  std::vector<nanoseconds> result(levels_.size());
  const sched::Level highest = levels_.front().level;
  nanoseconds keep_all_out{0};
  for (std::size_t at = levels_.size(); at-- > 0;) {
    result[at] = std::max(result[at], keep_all_out);
    for (std::size_t place = levels_[at].begin; place < levels_[at].end; ++place) {
      const Demand& demand = demands[order_[place]];
      const nanoseconds length = demand.longest_hold() - supply.head_start();
      if (demand.ceiling >= highest) {
        keep_all_out = std::max(keep_all_out, length);
        continue;
      }
      for (std::size_t next = at; next > 0 && levels_[next - 1].level <= demand.ceiling; --next) {
        result[next - 1] = std::max(result[next - 1], length);
      }
    }
  }
  return result;
}

// Whether all releases before this time, and a bit more, are in order.
bool PreparedSweep::look_until(nanoseconds time) {
  if (time < horizon_) {
    return true;
  }
  const nanoseconds until = 2 * time + nanoseconds{1};
  if (static_cast<double>(until.count()) * rate_ > most_releases) {
    return false;
  }
  const auto known = static_cast<std::ptrdiff_t>(releases_.size());
  for (Level& level : levels_) {
    const auto known_here = static_cast<std::ptrdiff_t>(level.noticed.size());
    for (std::size_t place = level.begin; place < level.end; ++place) {
      const Arrivals& noticed = noticed_[place];
      for (std::int64_t k = noticed.open(horizon_); noticed.time(k) < until; ++k) {
        level.noticed.push_back({.at = noticed.time(k), .place = place});
      }
    }
    std::ranges::sort(level.noticed.begin() + known_here, level.noticed.end(), {}, &Release::at);
    releases_.insert(releases_.end(), level.noticed.begin() + known_here, level.noticed.end());
  }
  std::ranges::sort(releases_.begin() + known, releases_.end(), {}, &Release::at);
  horizon_ = until;
  return true;
}

// To the least time in which this work and all that is noticed above before that is done.
bool PreparedSweep::go_on_until_done(nanoseconds work, std::size_t first, const Supply& supply) {
  for (;;) {
    const nanoseconds done = supply.time_for(work + preempted_);
    if (done <= time_) {
      return true;
    }
    if (!look_until(done)) {
      return false;
    }
    time_ = done;
    for (; next_ < releases_.size() && releases_[next_].at < time_; ++next_) {
      const std::size_t place = releases_[next_].place;
      preempted_ += place < first ? execution_[place] : nanoseconds{0};
    }
  }
}

// All that is noticed of a level before the time that is reached: it is above what follows.
void PreparedSweep::count(const Level& level) {
  for (const Release& release : level.noticed) {
    if (release.at >= time_) {
      break;
    }
    preempted_ += execution_[release.place];
  }
}

// False if nothing is said about the levels below.
bool PreparedSweep::look_at(const Level& level, std::span<const Demand> demands,
                            const Supply& supply, Left& left) {
  for (std::size_t place = level.begin; place < level.end; ++place) {
    share_ += utilization(demands[order_[place]]);
  }
  if (share_ > supply.rate() - near) {
    return false;
  }
  nanoseconds work = blocking_;
  nanoseconds worst{0};
  nanoseconds at{0};
  for (std::size_t next = 0;;) {
    for (; next < level.noticed.size() && level.noticed[next].at <= at; ++next) {
      work += execution_[level.noticed[next].place];
    }
    if (work.count() == 0 || !go_on_until_done(work, level.begin, supply)) {
      return false;
    }
    worst = std::max(worst, time_ - at);
    if (next == level.noticed.size() || level.noticed[next].at >= time_) {
      break;  // the busy period ended before
    }
    at = level.noticed[next].at;
  }
  for (std::size_t place = level.begin; place < level.end; ++place) {
    const Demand& demand = demands[order_[place]];
    const bool keeps_core = demand.ceiling > demand.level;
    const bool alike =
        demand.lag.count() == 0 ||
        (at.count() == 0 && demand.releases.closed(at) == demand.noticed().closed(at));
    // A job that keeps its core ends no later than if all above preempted it.
    if (alike && (!keeps_core || (supply.whole() && demand.execution.count() > 0))) {
      left[order_[place]] = demand.deadline - worst - demand.lag;
    }
  }
  count(level);
  return true;
}

PreparedSweep::Left PreparedSweep::look(std::span<const Demand> demands, const Supply& supply) {
  Left left(demands.size());
  if (!bounded_ || demands.empty() || !look_until(nanoseconds{0})) {
    return left;
  }
  for (std::size_t place = 0; place < order_.size(); ++place) {
    execution_[place] = demands[order_[place]].execution;
  }
  next_ = 0;
  time_ = preempted_ = nanoseconds{0};
  share_ = 0;
  const std::vector<nanoseconds> blocking_times = blocking(demands, supply);
  for (std::size_t at = 0; at < levels_.size(); ++at) {
    blocking_ = blocking_times[at];
    if (!look_at(levels_[at], demands, supply, left)) {
      break;
    }
  }
  return left;
}

}  // namespace takt::analysis
