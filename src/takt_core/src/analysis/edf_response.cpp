// SPDX-License-Identifier: Apache-2.0
//
// Spuri 1996: the worst response of a job need not begin with the release of all tasks, so every
// distance of its release from the beginning of the busy period has to be looked at, at which the
// deadline of the job meets one of another demand (or its own earlier jobs fit in).
#include <algorithm>
#include <limits>

#include "busy_period.hpp"
#include "demand_curve.hpp"
#include "due_sweep.hpp"
#include "takt/analysis/edf.hpp"

namespace takt::analysis {
namespace {

class DeadlineTest {
 public:
  DeadlineTest(std::span<const Demand> demands, bool preemptive, const Supply& supply,
               Effort& effort)
      : demands_(demands),
        preemptive_(preemptive),
        supply_(supply),
        effort_(effort),
        curve_(demands, preemptive, supply) {
    for (const Demand& demand : demands) {
      noticed_.emplace_back(demand.noticed());
    }
  }

  std::vector<Response> run() {
    std::vector<Response> result(demands_.size());
    const bool endless = std::ranges::any_of(
        demands_, [](const Demand& demand) { return demand.releases.period.count() <= 0; });
    if (endless || overloaded(demands_, supply_)) {
      return result;
    }
    const auto busy = busy_period(demands_, curve_.blocking().longest(), effort_, supply_);
    if (!busy) {
      return result;
    }
    DueSweep sweep{demands_, curve_, noticed_, supply_};
    const bool swept = preemptive_ && curve_.blocking().longest().count() == 0;
    if (swept && !sweep.run(*busy, effort_)) {
      return result;
    }
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      if (demands_[i].interrupt) {
        continue;
      }
      result[i] =
          swept ? Response{.bound = sweep.response(i) + demands_[i].lag} : response(i, *busy);
    }
    return result;
  }

 private:
  Response response(std::size_t own, nanoseconds busy) {
    const Demand& demand = demands_[own];
    Response result;
    nanoseconds worst = demand.execution;
    nanoseconds due = curve_.delay(own);
    for (nanoseconds at{0}; at < busy; at = due - curve_.delay(own)) {
      const nanoseconds blocking = curve_.blocking().at(due);
      const auto end = preemptive_ ? finish(own, at, due, blocking)
                                   : finish_without_preemption(own, at, due, blocking);
      if (!end) {
        return {};
      }
      if (*end - at > worst) {
        worst = *end - at;
        result.blocking = blocking;
      }
      const auto next = next_change(due);
      if (!next) {
        return {};
      }
      due = *next;
    }
    result.bound = worst + demand.lag;
    return result;
  }

  [[nodiscard]] std::optional<nanoseconds> next_change(nanoseconds due) {
    if (!effort_.spend(demands_.size())) {
      return {};
    }
    nanoseconds next = never;
    for (std::size_t j = 0; j < demands_.size(); ++j) {
      if (demands_[j].interrupt) {
        continue;
      }
      next = std::min(next, curve_.delay(j) + demands_[j].releases.time(curve_.due(j, due)));
    }
    return next;
  }

  // Of the others, those that take time from a job that is due then.
  void find_rivals(std::size_t own, nanoseconds due) {
    rivals_.clear();
    for (std::size_t j = 0; j < demands_.size(); ++j) {
      const std::int64_t most =
          demands_[j].interrupt ? std::numeric_limits<std::int64_t>::max() : curve_.due(j, due);
      if (j != own && most > 0) {
        rivals_.push_back({.of = j, .most = most});
      }
    }
  }

  // What they take until `time`: of each no more than is due by then.
  [[nodiscard]] nanoseconds others(nanoseconds time, bool including) const noexcept {
    const nanoseconds window = including ? time : time - nanoseconds{1};
    nanoseconds sum{0};
    for (const Rival& rival : rivals_) {
      const std::int64_t count = window.count() < 0 ? 0 : noticed_[rival.of].closed(window);
      sum += std::min(count, rival.most) * demands_[rival.of].execution;
    }
    return sum;
  }

  std::optional<nanoseconds> finish(std::size_t own, nanoseconds at, nanoseconds due,
                                    nanoseconds blocking) {
    const nanoseconds work = blocking + demands_[own].releases.closed(at) * demands_[own].execution;
    nanoseconds time = work;
    find_rivals(own, due);
    for (;;) {
      if (!effort_.spend(demands_.size())) {
        return {};
      }
      const nanoseconds next = supply_.time_for(work + others(time, false));
      if (next <= time) {
        return time;
      }
      time = next;
    }
  }

  std::optional<nanoseconds> finish_without_preemption(std::size_t own, nanoseconds at,
                                                       nanoseconds due, nanoseconds blocking) {
    const Demand& demand = demands_[own];
    const nanoseconds work = blocking + (demand.releases.closed(at) - 1) * demand.execution;
    nanoseconds start = work;
    find_rivals(own, due);
    for (;;) {
      if (!effort_.spend(demands_.size())) {
        return {};
      }
      const nanoseconds next = supply_.start_after(work + others(start, true));
      if (next <= start) {
        break;
      }
      start = next;
    }
    if (start < at && !supply_.whole()) {
      return at + demand.execution;  // as at the beginning of a busy period, or less
    }
    const nanoseconds done = supply_.whole() ? std::max(start, at) : work + others(start, true);
    start = std::max(start, at);
    // Interrupts alone come in between.
    nanoseconds end = start + demand.execution;
    for (;;) {
      nanoseconds next = done + demand.execution;
      for (std::size_t j = 0; j < demands_.size(); ++j) {
        if (!demands_[j].interrupt) {
          continue;
        }
        if (!effort_.spend(1)) {
          return {};
        }
        next += (noticed_[j].open(end) - noticed_[j].closed(start)) * demands_[j].execution;
      }
      next = supply_.time_for(next);
      if (next <= end) {
        return end;
      }
      end = next;
    }
  }

  std::span<const Demand> demands_;
  bool preemptive_;
  const Supply& supply_;
  Effort& effort_;
  DemandCurve curve_;
  std::vector<ArrivalCount> noticed_;
  struct Rival {
    std::size_t of;
    std::int64_t most;  // jobs
  };
  std::vector<Rival> rivals_;
};

}  // namespace

std::vector<Response> edf_responses(std::span<const Demand> demands, bool preemptive,
                                    Effort& effort, const Supply& supply) {
  return DeadlineTest{demands, preemptive, supply, effort}.run();
}

}  // namespace takt::analysis
