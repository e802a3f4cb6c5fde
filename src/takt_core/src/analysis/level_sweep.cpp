// SPDX-License-Identifier: Apache-2.0
#include "level_sweep.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "arrival_count.hpp"
#include "lock_blocking.hpp"

namespace takt::analysis {
namespace {

// Between these it takes an exact sum to say whether a level has too much to do.
constexpr double near = 2e-9;

class LevelSweep {
 public:
  LevelSweep(std::span<const Demand> demands, const Supply& supply, Effort& effort)
      : demands_(demands),
        supply_(supply),
        effort_(effort),
        result_(demands.size()),
        order_(demands.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, std::ranges::greater{},
                             [&](std::size_t i) { return demands[i].level; });
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (demands[i].ceiling > demands[i].level &&
          demands[i].longest_hold() > supply.head_start()) {
        holders_.push_back(i);
      }
    }
    above_.reserve(demands.size());
  }

  std::vector<std::optional<Response>> run() {
    for (std::size_t begin = 0; begin < order_.size();) {
      std::size_t end = begin;
      while (end < order_.size() && demands_[order_[end]].level == demands_[order_[begin]].level) {
        ++end;
      }
      if (!look_at(std::span{order_}.subspan(begin, end - begin))) {
        break;
      }
      begin = end;
    }
    return std::move(result_);
  }

 private:
  struct Above {
    ArrivalCount noticed;
    nanoseconds execution;
    std::int64_t counted;
  };
  struct Next {
    nanoseconds at;
    std::size_t of;  // in above_
    friend bool operator>(const Next& a, const Next& b) noexcept { return a.at > b.at; }
  };

  // Of one level. False where nothing can be said about it and those below.
  bool look_at(std::span<const std::size_t> members) {
    const nanoseconds blocking = blocking_of(demands_[members.front()].level);
    const std::size_t first = above_.size();
    for (const std::size_t i : members) {
      const Demand& demand = demands_[i];
      share_ += utilization(demand);
      above_.push_back(
          {.noticed = ArrivalCount{demand.noticed()}, .execution = demand.execution, .counted = 0});
    }
    if (share_ > supply_.rate() + near) {
      for (const std::size_t i : members) {
        result_[i] = Response{.bound = {}, .blocking = blocking};
      }
      return true;
    }
    if (share_ > supply_.rate() - near) {
      return false;
    }
    const std::span level = std::span{above_}.subspan(first);
    nanoseconds work = blocking;
    nanoseconds worst{0};
    nanoseconds at{0};
    for (;;) {
      nanoseconds next = never;
      for (Above& each : level) {
        const std::int64_t released = each.noticed.closed(at);
        work += (released - each.counted) * each.execution;
        each.counted = released;
        next = std::min(next, each.noticed.time(released));
      }
      if (work.count() == 0 || !effort_.spend(level.size()) || !go_on_until_done(work)) {
        return false;
      }
      worst = std::max(worst, time_ - at);
      if (next >= time_) {
        break;  // the busy period ended before
      }
      at = next;
    }
    for (const std::size_t i : members) {
      const Demand& demand = demands_[i];
      // Its own jobs count as they are released, those of the others as they are noticed.
      const bool alike =
          demand.lag.count() == 0 ||
          (at.count() == 0 && demand.releases.closed(at) == demand.noticed().closed(at));
      if (demand.ceiling <= demand.level && alike) {
        result_[i] = Response{.bound = worst + demand.lag, .blocking = blocking};
      }
    }
    for (std::size_t i = first; i < above_.size(); ++i) {
      above_[i].counted = 0;
      count(i);
    }
    return true;
  }

  [[nodiscard]] nanoseconds blocking_of(sched::Level level) const noexcept {
    nanoseconds blocking{0};
    for (const std::size_t i : holders_) {
      if (demands_[i].level < level && demands_[i].ceiling >= level) {
        blocking = std::max(blocking, demands_[i].longest_hold() - supply_.head_start());
      }
    }
    return locks_ ? blocking_by_locks(demands_, level, blocking) : blocking;
  }

  // Of most the next is not noticed within any time that is looked at: only what may be before
  // `soon_` is kept in order.
  void put(const Next& next) {
    if (next.at < soon_) {
      next_.push(next);
    } else {
      later_.push_back(next);
      earliest_later_ = std::min(earliest_later_, next.at);
    }
  }

  void look_further() {
    if (time_ <= soon_) {
      return;
    }
    soon_ = 2 * time_;
    if (earliest_later_ >= soon_) {
      return;
    }
    earliest_later_ = never;
    for (const Next& each : std::exchange(later_, {})) {
      put(each);
    }
  }

  // To the least time in which this work and all that is noticed above before that is done.
  bool go_on_until_done(nanoseconds work) {
    for (;;) {
      const nanoseconds done = supply_.time_for(work + preempted_);
      if (done <= time_) {
        return true;
      }
      time_ = done;
      look_further();
      while (!next_.empty() && next_.top().at < time_) {
        const std::size_t of = next_.top().of;
        next_.pop();
        count(of);
      }
      if (!effort_.spend(1)) {
        return false;
      }
    }
  }

  // All that is noticed before this time.
  void count(std::size_t of) {
    Above& above = above_[of];
    const std::int64_t counted = above.noticed.open(time_);
    preempted_ += (counted - above.counted) * above.execution;
    above.counted = counted;
    put({.at = above.noticed.time(counted), .of = of});
    effort_.spend(1);
  }

  std::span<const Demand> demands_;
  const Supply& supply_;
  Effort& effort_;
  bool locks_ = anyone_locks(demands_);
  std::vector<std::optional<Response>> result_;
  std::vector<std::size_t> order_;    // from the highest level downwards
  std::vector<std::size_t> holders_;  // that may keep higher levels out
  std::vector<Above> above_;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next_;
  std::vector<Next> later_;  // from soon_ on
  nanoseconds soon_{0};
  nanoseconds earliest_later_ = never;
  nanoseconds time_{0};
  nanoseconds preempted_{0};  // the work of those above that is noticed before it
  double share_ = 0;
};

}  // namespace

std::vector<std::optional<Response>> sweep_levels(std::span<const Demand> demands, Effort& effort,
                                                  const Supply& supply) {
  return LevelSweep{demands, supply, effort}.run();
}

}  // namespace takt::analysis
