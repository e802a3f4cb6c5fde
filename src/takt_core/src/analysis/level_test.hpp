// SPDX-License-Identifier: Apache-2.0
//
// The response time of one demand under fixed priorities: the jobs of its level's busy period, one
// after the other (see takt/analysis/fixed_priority.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "arrival_count.hpp"
#include "busy_period.hpp"
#include "lock_blocking.hpp"
#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// Everything that matters for one demand, taken out of all of them.
class LevelTest {
 public:
  LevelTest(std::span<const Demand> demands, std::size_t index, const Supply& supply,
            Effort& effort)
      : own_(demands[index]),
        threshold_(std::max(own_.level, own_.ceiling)),
        supply_(supply),
        effort_(effort) {
    higher_.reserve(demands.size());
    for (std::size_t i = 0; i < demands.size(); ++i) {
      const Demand& demand = demands[i];
      if (demand.level > own_.level) {
        higher_.push_back(
            {.noticed = ArrivalCount{demand.noticed()}, .execution = demand.execution});
        if (demand.level > threshold_) {
          above_threshold_.push_back(higher_.back());
        }
        preempted_share_ += utilization(demand);
        preempted_early_ += early_work(demand);
      } else if (demand.level == own_.level) {
        share_ += utilization(demand);
        early_ += early_work(demand);
        if (i != index) {
          equal_.push_back(
              {.noticed = ArrivalCount{demand.noticed()}, .execution = demand.execution});
        }
      } else if (demand.ceiling >= own_.level && demand.execution.count() > 0) {
        blocking_ = std::max(blocking_, demand.longest_hold() - supply.head_start());
      }
    }
    if (anyone_locks(demands)) {
      blocking_ = blocking_by_locks(demands, own_.level, blocking_);
    }
    share_ += preempted_share_;
    early_ += preempted_early_;
    // Only then it takes time to say whether the level has too much to do.
    if (share_ > supply.rate() - 1e-9) {
      std::vector<Demand> level;
      for (std::size_t i = 0; i < demands.size(); ++i) {
        if (demands[i].level >= own_.level) {
          level.push_back(demands[i]);
          // How late the core notices it shifts its jobs, and adds none to the level.
          level.back().lag =
              i == index && is_alone_on_its_level() ? nanoseconds{0} : demands[i].lag;
        }
      }
      bounded_ = has_busy_period(level, blocking_, supply);
    }
  }

  // Stops at the first job whose response is above `limit`, with what is known of it by then.
  Response run(nanoseconds limit) {
    Response result{.bound = {}, .blocking = blocking_};
    if (!bounded_) {
      return result;
    }
    const bool keeps_core = threshold_ > own_.level;
    nanoseconds worst{0};
    for (nanoseconds at{0};;) {
      const auto end = finish(at, limit < never - at ? at + limit : never);
      if (!end) {
        return result;
      }
      worst = std::max(worst, *end - at + own_.lag);
      if (worst > limit) {
        break;
      }
      const nanoseconds next = next_release(at);
      if (!keeps_core && next >= *end) {
        break;  // the busy period ended before
      }
      const std::optional<bool> goes_on = is_alone_on_its_level() ? true : is_busy_at(next);
      if (!goes_on) {
        return result;
      }
      if (!*goes_on) {
        break;
      }
      at = next;
    }
    result.bound = worst;
    return result;
  }

 private:
  // A demand as the loops want it: interference by what the core notices.
  struct Other {
    ArrivalCount noticed;
    nanoseconds execution;
  };

  // Each of its jobs can be looked at without the others of its level.
  [[nodiscard]] bool is_alone_on_its_level() const noexcept {
    return threshold_ == own_.level && equal_.empty();
  }

  // The work of equal priorities that is released up to `at`, this job's included. Of its own task
  // that is the jobs before it; of the others all that may have been noticed or released by then.
  [[nodiscard]] nanoseconds before(nanoseconds at) const noexcept {
    nanoseconds work = blocking_ + own_.releases.closed(at) * own_.execution;
    for (const Other& other : equal_) {
      work += other.noticed.closed(at) * other.execution;
    }
    return work;
  }

  [[nodiscard]] nanoseconds next_release(nanoseconds at) const noexcept {
    nanoseconds next = own_.releases.time(own_.releases.closed(at));
    for (const Other& other : equal_) {
      next = std::min(next, other.noticed.time(other.noticed.closed(at)));
    }
    return next;
  }

  // The least t in which the core provides work + what the others take in [0, t); with
  // `including`, the latest start of a job after that, and [0, t]. Above `last` any lower bound
  // of it.
  std::optional<nanoseconds> fixpoint(nanoseconds work, const std::vector<Other>& others,
                                      nanoseconds from, bool including, nanoseconds last = never) {
    nanoseconds time = from;
    for (;;) {
      if (!effort_.spend(others.size() + 1)) {
        return {};
      }
      nanoseconds sum = work;
      for (const Other& other : others) {
        sum +=
            (including ? other.noticed.closed(time) : other.noticed.open(time)) * other.execution;
      }
      sum = including ? supply_.start_after(sum) : supply_.time_for(sum);
      if (sum <= time || time > last) {
        return time;
      }
      time = sum;
    }
  }

  [[nodiscard]] nanoseconds at_least(nanoseconds work) const noexcept {
    return least_time(work, preempted_share_, preempted_early_, supply_.rate());
  }

  // What has been done when a job starts after `work` and what is above it.
  [[nodiscard]] nanoseconds done_by(nanoseconds start, nanoseconds work) const noexcept {
    if (supply_.whole()) {
      return start;
    }
    for (const Other& other : higher_) {
      work += other.noticed.closed(start) * other.execution;
    }
    return work;
  }

  std::optional<nanoseconds> finish(nanoseconds at, nanoseconds last) {
    const nanoseconds work = before(at);
    if (threshold_ <= own_.level) {
      return fixpoint(work, higher_, at_least(work), false, last);
    }
    const auto start =
        fixpoint(work - own_.execution, higher_, at_least(work - own_.execution), true, last);
    if (!start || *start > last) {
      return start;
    }
    // Once started, only what is above the threshold comes in between.
    nanoseconds after = done_by(*start, work - own_.execution) + own_.execution;
    for (const Other& other : above_threshold_) {
      after -= other.noticed.closed(*start) * other.execution;
    }
    return fixpoint(after, above_threshold_, *start + own_.execution, false, last);
  }

  // All of the level and above, as the core notices it: own jobs, too, so that the busy period
  // covers every one of them.
  [[nodiscard]] const std::vector<Other>& all() {
    if (all_.empty()) {
      all_ = higher_;
      all_.insert(all_.end(), equal_.begin(), equal_.end());
      all_.push_back({.noticed = ArrivalCount{own_.noticed()}, .execution = own_.execution});
    }
    return all_;
  }

  // Whether the busy period has ended by then: mostly that is quicker to say than when it ends.
  [[nodiscard]] bool is_idle_by(nanoseconds time) {
    nanoseconds work = blocking_;
    for (const Other& other : all()) {
      work += other.noticed.open(time) * other.execution;
    }
    return effort_.spend(all_.size()) && supply_.time_for(work) <= time;
  }

  // Whether the busy period lasts beyond this time; nothing: not found.
  std::optional<bool> is_busy_at(nanoseconds time) {
    if (!busy_ && is_idle_by(time)) {
      return false;
    }
    busy_ = busy_ ? busy_ : busy_period();
    return busy_ ? std::optional{time < *busy_} : std::nullopt;
  }

  std::optional<nanoseconds> busy_period() {
    // What is released at its beginning belongs to it, also if a job computes nothing.
    const nanoseconds from = std::max(nanoseconds{1}, blocking_ + own_.execution);
    return fixpoint(blocking_, all(),
                    std::max(from, least_time(blocking_, share_, early_, supply_.rate())), false);
  }

  const Demand& own_;
  sched::Level threshold_;  // once started, only higher levels preempt it
  const Supply& supply_;
  Effort& effort_;
  std::vector<Other> higher_;
  std::vector<Other> above_threshold_;
  std::vector<Other> equal_;
  std::vector<Other> all_;
  std::optional<nanoseconds> busy_;  // the length of the level's busy period, once it is needed
  nanoseconds blocking_{0};
  bool bounded_ = true;
  double preempted_share_ = 0;
  double preempted_early_ = 0;
  double share_ = 0;
  double early_ = 0;
};

}  // namespace takt::analysis
