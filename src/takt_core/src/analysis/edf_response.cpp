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
    const bool by_halves =
        preemptive_ && curve_.blocking().longest().count() == 0 && find_dues(*busy);
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      if (!demands_[i].interrupt) {
        result[i] = by_halves ? response_by_halves(i, *busy) : response(i, *busy);
      }
    }
    return result;
  }

 private:
  // All times at which jobs may be due, ascending; false where they are too many.
  bool find_dues(nanoseconds busy) {
    constexpr std::size_t most_dues = 1'000'000;
    nanoseconds latest{0};
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      latest = demands_[i].interrupt ? latest : std::max(latest, curve_.delay(i) + busy);
    }
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      nanoseconds due = curve_.delay(i);
      for (std::int64_t k = 1; !demands_[i].interrupt && due < latest; ++k) {
        if (dues_.size() >= most_dues || !effort_.spend(1)) {
          return false;
        }
        dues_.push_back(due);
        due = curve_.delay(i) + demands_[i].releases.time(k);
      }
    }
    std::ranges::sort(dues_);
    dues_.erase(std::ranges::unique(dues_).begin(), dues_.end());
    return true;
  }

  // Where nobody is blocked, what is due later ends no earlier: so of all that are due from `first`
  // on and before the one that ends at `until`, none responds later than `until` less the release
  // of the first. Most need not be looked at.
  Response response_by_halves(std::size_t own, nanoseconds busy) {
    struct Range {
      std::size_t first;
      std::size_t last;
      nanoseconds from;  // none ends before
      nanoseconds until;
    };
    const auto place = [&](nanoseconds due) {
      return static_cast<std::size_t>(std::ranges::lower_bound(dues_, due) - dues_.begin());
    };
    const nanoseconds delay = curve_.delay(own);
    nanoseconds worst = demands_[own].execution;
    std::vector<Range> ranges{{.first = place(delay),
                               .last = place(delay + busy),
                               .from = nanoseconds{0},
                               .until = busy}};
    while (!ranges.empty()) {
      const Range range = ranges.back();
      ranges.pop_back();
      if (range.first >= range.last || range.until - (dues_[range.first] - delay) <= worst) {
        continue;
      }
      const std::size_t middle = range.first + (range.last - range.first) / 2;
      const nanoseconds at = dues_[middle] - delay;
      const auto end = finish(own, at, dues_[middle], nanoseconds{0}, range.from);
      if (!end) {
        return {};
      }
      worst = std::max(worst, *end - at);
      ranges.push_back(
          {.first = middle + 1, .last = range.last, .from = *end, .until = range.until});
      ranges.push_back({.first = range.first, .last = middle, .from = range.from, .until = *end});
    }
    return {.bound = worst + demands_[own].lag};
  }

  Response response(std::size_t own, nanoseconds busy) {
    const Demand& demand = demands_[own];
    Response result;
    nanoseconds worst = demand.execution;
    nanoseconds due = curve_.delay(own);
    for (nanoseconds at{0}; at < busy; at = due - curve_.delay(own)) {
      const nanoseconds blocking = curve_.blocking().at(due);
      const auto end = preemptive_ ? finish(own, at, due, blocking, nanoseconds{0})
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

  // From a time on before which it does not end.
  std::optional<nanoseconds> finish(std::size_t own, nanoseconds at, nanoseconds due,
                                    nanoseconds blocking, nanoseconds from) {
    const nanoseconds work = blocking + demands_[own].releases.closed(at) * demands_[own].execution;
    nanoseconds time = std::max(work, from);
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
  std::vector<nanoseconds> dues_;
};

}  // namespace

std::vector<Response> edf_responses(std::span<const Demand> demands, bool preemptive,
                                    Effort& effort) {
  return DeadlineTest{demands, preemptive, effort}.run();
}

}  // namespace takt::analysis
