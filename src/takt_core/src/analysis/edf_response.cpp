// SPDX-License-Identifier: Apache-2.0
//
// Spuri 1996: the worst response of a job need not begin with the release of all tasks, so every
// distance of its release from the beginning of the busy period has to be looked at, at which the
// deadline of the job meets one of another demand (or its own earlier jobs fit in).
#include <algorithm>

#include "busy_period.hpp"
#include "demand_curve.hpp"
#include "takt/analysis/edf.hpp"

namespace takt::analysis {
namespace {

class DeadlineTest {
 public:
  DeadlineTest(std::span<const Demand> demands, bool preemptive, Effort& effort)
      : demands_(demands), preemptive_(preemptive), effort_(effort), curve_(demands, preemptive) {
    for (const Demand& demand : demands) {
      noticed_.emplace_back(demand.noticed());
    }
  }

  std::vector<Response> run() {
    std::vector<Response> result(demands_.size());
    const bool endless = std::ranges::any_of(
        demands_, [](const Demand& demand) { return demand.releases.period.count() <= 0; });
    if (endless || overloaded(demands_)) {
      return result;
    }
    const auto busy = busy_period(demands_, curve_.blocking().longest(), effort_);
    if (!busy) {
      return result;
    }
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      if (!demands_[i].interrupt) {
        result[i] = response(i, *busy);
      }
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

  // What the others take until `time`: of each no more than is due by `due`.
  [[nodiscard]] nanoseconds others(std::size_t own, nanoseconds time, nanoseconds due,
                                   bool including) const noexcept {
    nanoseconds sum{0};
    for (std::size_t j = 0; j < demands_.size(); ++j) {
      if (j == own) {
        continue;
      }
      std::int64_t count = including ? noticed_[j].closed(time) : noticed_[j].open(time);
      if (!demands_[j].interrupt) {
        count = std::min(count, curve_.due(j, due));
      }
      sum += count * demands_[j].execution;
    }
    return sum;
  }

  std::optional<nanoseconds> finish(std::size_t own, nanoseconds at, nanoseconds due,
                                    nanoseconds blocking) {
    const nanoseconds work = blocking + demands_[own].releases.closed(at) * demands_[own].execution;
    nanoseconds time = work;
    for (;;) {
      if (!effort_.spend(demands_.size())) {
        return {};
      }
      const nanoseconds next = work + others(own, time, due, false);
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
    for (;;) {
      if (!effort_.spend(demands_.size())) {
        return {};
      }
      const nanoseconds next = work + others(own, start, due, true);
      if (next <= start) {
        break;
      }
      start = next;
    }
    start = std::max(start, at);
    // Interrupts alone come in between.
    nanoseconds end = start + demand.execution;
    for (;;) {
      nanoseconds next = start + demand.execution;
      for (std::size_t j = 0; j < demands_.size(); ++j) {
        if (!demands_[j].interrupt) {
          continue;
        }
        if (!effort_.spend(1)) {
          return {};
        }
        next += (noticed_[j].open(end) - noticed_[j].closed(start)) * demands_[j].execution;
      }
      if (next <= end) {
        return end;
      }
      end = next;
    }
  }

  std::span<const Demand> demands_;
  bool preemptive_;
  Effort& effort_;
  DemandCurve curve_;
  std::vector<ArrivalCount> noticed_;
};

}  // namespace

std::vector<Response> edf_responses(std::span<const Demand> demands, bool preemptive,
                                    Effort& effort) {
  return DeadlineTest{demands, preemptive, effort}.run();
}

}  // namespace takt::analysis
