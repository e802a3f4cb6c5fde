// SPDX-License-Identifier: Apache-2.0
//
// Spuri 1996: the worst response of a job need not begin with the release of all tasks, so every
// distance of its release from the beginning of the busy period has to be looked at, at which the
// deadline of the job meets one of another load (or its own earlier jobs fit in).
#include <algorithm>

#include "busy_period.hpp"
#include "demand_curve.hpp"
#include "takt/analysis/edf.hpp"

namespace takt::analysis {
namespace {

class DeadlineTest {
 public:
  DeadlineTest(std::span<const Load> loads, bool preemptive, Effort& effort)
      : loads_(loads), preemptive_(preemptive), effort_(effort), curve_(loads, preemptive) {
    for (const Load& load : loads) {
      noticed_.emplace_back(load.noticed());
    }
  }

  std::vector<Response> run() {
    std::vector<Response> result(loads_.size());
    const bool endless = std::ranges::any_of(
        loads_, [](const Load& load) { return load.releases.period.count() <= 0; });
    if (endless || overloaded(loads_)) {
      return result;
    }
    const auto busy = busy_period(loads_, curve_.longest_blocking(), effort_);
    if (!busy) {
      return result;
    }
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      if (!loads_[i].interrupt) {
        result[i] = response(i, *busy);
      }
    }
    return result;
  }

 private:
  Response response(std::size_t own, nanoseconds busy) {
    const Load& load = loads_[own];
    Response result;
    nanoseconds worst = load.execution;
    nanoseconds due = curve_.delay(own);
    for (nanoseconds at{0}; at < busy; at = due - curve_.delay(own)) {
      const nanoseconds blocking = curve_.blocking(due);
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
    result.bound = worst + load.lag;
    return result;
  }

  [[nodiscard]] std::optional<nanoseconds> next_change(nanoseconds due) {
    if (!effort_.spend(loads_.size())) {
      return {};
    }
    nanoseconds next = never;
    for (std::size_t j = 0; j < loads_.size(); ++j) {
      if (loads_[j].interrupt) {
        continue;
      }
      next = std::min(next, curve_.delay(j) + loads_[j].releases.time(curve_.due(j, due)));
    }
    return next;
  }

  // What the others take until `time`: of each no more than is due by `due`.
  [[nodiscard]] nanoseconds others(std::size_t own, nanoseconds time, nanoseconds due,
                                   bool including) const noexcept {
    nanoseconds sum{0};
    for (std::size_t j = 0; j < loads_.size(); ++j) {
      if (j == own) {
        continue;
      }
      std::int64_t count = including ? noticed_[j].closed(time) : noticed_[j].open(time);
      if (!loads_[j].interrupt) {
        count = std::min(count, curve_.due(j, due));
      }
      sum += count * loads_[j].execution;
    }
    return sum;
  }

  std::optional<nanoseconds> finish(std::size_t own, nanoseconds at, nanoseconds due,
                                    nanoseconds blocking) {
    const nanoseconds work = blocking + loads_[own].releases.closed(at) * loads_[own].execution;
    nanoseconds time = work;
    for (;;) {
      if (!effort_.spend(loads_.size())) {
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
    const Load& load = loads_[own];
    const nanoseconds work = blocking + (load.releases.closed(at) - 1) * load.execution;
    nanoseconds start = work;
    for (;;) {
      if (!effort_.spend(loads_.size())) {
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
    nanoseconds end = start + load.execution;
    for (;;) {
      nanoseconds next = start + load.execution;
      for (std::size_t j = 0; j < loads_.size(); ++j) {
        if (!loads_[j].interrupt) {
          continue;
        }
        if (!effort_.spend(1)) {
          return {};
        }
        next += (noticed_[j].open(end) - noticed_[j].closed(start)) * loads_[j].execution;
      }
      if (next <= end) {
        return end;
      }
      end = next;
    }
  }

  std::span<const Load> loads_;
  bool preemptive_;
  Effort& effort_;
  DemandCurve curve_;
  std::vector<ArrivalCount> noticed_;
};

}  // namespace

std::vector<Response> edf_responses(std::span<const Load> loads, bool preemptive, Effort& effort) {
  return DeadlineTest{loads, preemptive, effort}.run();
}

}  // namespace takt::analysis
