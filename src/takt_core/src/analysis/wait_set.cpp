// SPDX-License-Identifier: Apache-2.0
#include "wait_set.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "bounds.hpp"
#include "takt/analysis/core.hpp"
#include "takt/analysis/fixed_priority.hpp"

namespace takt::analysis {
namespace {

constexpr std::int64_t most_steps_of_one = 500'000;
constexpr int most_passes = 4;   // of bound (c) over all callbacks
constexpr int most_jobs = 1000;  // of one busy time

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

// Runs `find` with a part of the effort.
template <class Find>
Bound with_part(Effort& effort, Find find) {
  Effort part{.steps = std::min(effort.steps, most_steps_of_one)};
  const std::int64_t before = part.steps;
  const Bound found = find(part);
  effort.steps -= before - part.steps;
  return found;
}

void take_least(Bound& bound, const Bound& other) {
  if (other && (!bound || *other < *bound)) {
    bound = other;
  }
}

class WaitSet {
 public:
  WaitSet(std::span<const Demand> demands, const Supply& supply, Effort& effort)
      : demands_(demands), supply_(supply), effort_(effort), bounds_(demands.size()) {
    interrupts_.reserve(demands.size());
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (demands[i].interrupt) {
        interrupts_.push_back(i);
        continue;
      }
      const auto known = std::ranges::find(callbacks_, demands[i].task, &Callback::task);
      Callback& callback =
          known != callbacks_.end() ? *known : callbacks_.emplace_back(demands[i].task);
      callback.streams.push_back(i);
      callback.execution = std::max(callback.execution, demands[i].execution);
      callback.level = demands[i].level;
    }
    bounded_interrupts_ = std::ranges::none_of(
        interrupts_, [&](std::size_t i) { return demands[i].releases.period.count() <= 0; });
  }

  std::vector<Response> run() {
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      if (!demands_[i].interrupt) {
        take_least(bounds_[i],
                   with_part(effort_, [&](Effort& part) { return by_arrivals(i, part); }));
      }
    }
    for (int pass = 0; pass < most_passes && update(); ++pass) {
    }
    std::vector<Response> result;
    result.reserve(bounds_.size());
    for (const Bound& bound : bounds_) {
      result.push_back({.bound = bound});
    }
    return result;
  }

 private:
  struct Callback {
    explicit Callback(std::size_t number) : task(number) {}

    std::size_t task;
    std::vector<std::size_t> streams = {};
    nanoseconds execution{0};
    sched::Level level = 0;
  };

  // Bounds (a) and (c) of all; whether any has become shorter.
  bool update() {
    bool changed = false;
    for (const Callback& callback : callbacks_) {
      for (const std::size_t stream : callback.streams) {
        const Bound before = bounds_[stream];
        take_least(bounds_[stream], with_part(effort_, [&](Effort& part) {
                     return by_rounds(callback, stream, part);
                   }));
        changed = changed || bounds_[stream] != before;
      }
    }
    return changed;
  }

  // (b): everything else comes first.
  Bound by_arrivals(std::size_t own, Effort& effort) const {
    std::vector<Demand> in_one_round{demands_.begin(), demands_.end()};
    for (Demand& demand : in_one_round) {
      if (!demand.interrupt) {
        demand.level = demand.task == demands_[own].task ? 0 : 1;
        demand.ceiling = interrupt_level - 1;
        demand.boosted = sched::no_ceiling;
      }
    }
    return fixed_priority_response(in_one_round, own, effort, supply_).bound;
  }

  // Nothing, too, where it is not below the known bound.
  Bound by_rounds(const Callback& callback, std::size_t own, Effort& effort) const {
    if (!bounded_interrupts_ || piles_up(callback)) {
      return {};
    }
    const Demand& demand = demands_[own];
    nanoseconds worst{0};
    nanoseconds at{0};  // the release of J, from lag before t0 on
    for (int job = 0; job < most_jobs; ++job) {
      std::int64_t rounds = 0;
      nanoseconds next = never;
      for (const std::size_t stream : callback.streams) {
        const Arrivals arrivals = stream == own ? demand.releases : demands_[stream].noticed();
        const std::int64_t count = arrivals.closed(at);
        rounds += count;
        next = std::min(next, arrivals.time(count));
      }
      const Bound end = end_of(callback, rounds, effort);
      if (!end) {
        return {};
      }
      worst = std::max(worst, *end - at + demand.lag);
      if (bounds_[own] && worst >= *bounds_[own]) {
        return {};
      }
      if (*end <= next - demand.lag) {
        return worst;
      }
      at = next;
    }
    return {};
  }

  // Whether a job and what runs with it in a round take longer than until the next job, in the long
  // run.
  [[nodiscard]] bool piles_up(const Callback& own) const {
    const double rate = rate_of(own);
    double share = static_cast<double>(own.execution.count()) * rate;
    for (const Callback& other : callbacks_) {
      if (&other != &own) {
        const bool known = most_by_releases(other, nanoseconds{0}) < unlimited;
        share += static_cast<double>(other.execution.count()) *
                 (known ? std::min(rate, rate_of(other)) : rate);
      }
    }
    for (const std::size_t i : interrupts_) {
      share += utilization(demands_[i]);
    }
    return share > supply_.rate() - 1e-9;
  }

  // Releases a nanosecond; infinite without a bound.
  [[nodiscard]] double rate_of(const Callback& callback) const noexcept {
    double sum = 0;
    for (const std::size_t stream : callback.streams) {
      const auto period = static_cast<double>(demands_[stream].releases.period.count());
      sum += period > 0 ? 1 / period : std::numeric_limits<double>::infinity();
    }
    return sum;
  }

  // When job number `rounds` of the callback ends, from t0 on.
  Bound end_of(const Callback& own, std::int64_t rounds, Effort& effort) const {
    nanoseconds start{0};
    for (;;) {
      if (!effort.spend(demands_.size())) {
        return {};
      }
      nanoseconds before = (rounds - 1) * own.execution;
      for (const Callback& other : callbacks_) {
        if (&other != &own) {
          before += std::min(most_by_rounds(own, other, rounds), most_by_releases(other, start)) *
                    other.execution;
        }
      }
      const nanoseconds later = supply_.start_after(before + interrupted(start, true));
      if (later <= start) {
        return end_after(before + own.execution, start, effort);
      }
      start = later;
      if (start > longest) {
        return {};
      }
    }
  }

  Bound end_after(nanoseconds work, nanoseconds from, Effort& effort) const {
    nanoseconds end = from;
    for (;;) {
      if (!effort.spend(interrupts_.size() + 1)) {
        return {};
      }
      const nanoseconds later = supply_.time_for(work + interrupted(end, false));
      if (later <= end) {
        return end;
      }
      end = later;
      if (end > longest) {
        return {};
      }
    }
  }

  static std::int64_t most_by_rounds(const Callback& own, const Callback& other,
                                     std::int64_t rounds) noexcept {
    return other.level >= own.level ? rounds + 1 : rounds;
  }

  // Unlimited where no bound on the response is known yet.
  [[nodiscard]] std::int64_t most_by_releases(const Callback& other, nanoseconds start) const {
    std::int64_t sum = 0;
    for (const std::size_t stream : other.streams) {
      const Arrivals& releases = demands_[stream].releases;
      if (!bounds_[stream] || releases.period.count() <= 0) {
        return unlimited;
      }
      sum += releases.open(start + *bounds_[stream]);
    }
    return sum;
  }

  [[nodiscard]] nanoseconds interrupted(nanoseconds window, bool closed) const noexcept {
    nanoseconds sum{0};
    for (const std::size_t i : interrupts_) {
      const Arrivals noticed = demands_[i].noticed();
      sum += (closed ? noticed.closed(window) : noticed.open(window)) * demands_[i].execution;
    }
    return sum;
  }

  static constexpr nanoseconds longest = std::chrono::hours{24};  // nobody wants such a bound

  std::span<const Demand> demands_;
  const Supply& supply_;
  Effort& effort_;
  std::vector<Callback> callbacks_;
  std::vector<std::size_t> interrupts_;
  bool bounded_interrupts_ = true;
  std::vector<Bound> bounds_;  // by demand
};

}  // namespace

std::vector<Response> wait_set_responses(std::span<const Demand> demands, Effort& effort,
                                         const Supply& supply) {
  return WaitSet{demands, supply, effort}.run();
}

std::vector<Response> arrival_order_responses(std::span<const Demand> demands, Effort& effort,
                                              const Supply& supply) {
  std::vector<Demand> equal{demands.begin(), demands.end()};
  for (Demand& demand : equal) {
    if (!demand.interrupt) {
      demand.level = 0;
      demand.ceiling = interrupt_level - 1;
    }
  }
  return fixed_priority_responses(equal, effort, supply);
}

}  // namespace takt::analysis
