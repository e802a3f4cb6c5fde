// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/fixed_priority.hpp"

#include <algorithm>
#include <numeric>

#include "arrival_count.hpp"
#include "boosting.hpp"
#include "busy_period.hpp"
#include "level_sweep.hpp"
#include "suspension.hpp"
#include "suspension_choice.hpp"

namespace takt::analysis {
namespace {

// Where somebody waits and each demand is looked at several times.
constexpr std::int64_t most_steps_of_one = 500'000;
// All choices of what blocks together take no more than such a part of the effort that is left.
constexpr std::int64_t part_for_choices = 16;

// A demand as the loops want it: interference by what the core notices.
struct Other {
  ArrivalCount noticed;
  nanoseconds execution;
};

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
        blocking_ = std::max(blocking_, demand.execution - supply.head_start());
      }
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

  // Stops at the first job whose response is above `limit`, with that response.
  Response run(nanoseconds limit) {
    Response result{.bound = {}, .blocking = blocking_};
    if (!bounded_) {
      return result;
    }
    const bool keeps_core = threshold_ > own_.level;
    nanoseconds busy = never;  // the length of the level's busy period, where it is needed
    if (!is_alone_on_its_level()) {
      const auto found = busy_period();
      if (!found) {
        return result;
      }
      busy = *found;
    }
    nanoseconds worst{0};
    for (nanoseconds at{0}; at < busy;) {
      const auto end = finish(at);
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
      at = next;
    }
    result.bound = worst;
    return result;
  }

 private:
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
  // `including`, the latest start of a job after that, and [0, t].
  std::optional<nanoseconds> fixpoint(nanoseconds work, const std::vector<Other>& others,
                                      nanoseconds from, bool including) {
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
      if (sum <= time) {
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

  std::optional<nanoseconds> finish(nanoseconds at) {
    const nanoseconds work = before(at);
    if (threshold_ <= own_.level) {
      return fixpoint(work, higher_, at_least(work), false);
    }
    const auto start =
        fixpoint(work - own_.execution, higher_, at_least(work - own_.execution), true);
    if (!start) {
      return {};
    }
    // Once started, only what is above the threshold comes in between.
    nanoseconds after = done_by(*start, work - own_.execution) + own_.execution;
    for (const Other& other : above_threshold_) {
      after -= other.noticed.closed(*start) * other.execution;
    }
    return fixpoint(after, above_threshold_, *start + own_.execution, false);
  }

  std::optional<nanoseconds> busy_period() {
    std::vector<Other> all = higher_;
    all.insert(all.end(), equal_.begin(), equal_.end());
    // Own jobs as the core notices them, so that the period covers every one of them.
    all.push_back({.noticed = ArrivalCount{own_.noticed()}, .execution = own_.execution});
    const nanoseconds from = blocking_ + own_.execution;
    return fixpoint(blocking_, all,
                    std::max(from, least_time(blocking_, share_, early_, supply_.rate())), false);
  }

  const Demand& own_;
  sched::Level threshold_;  // once started, only higher levels preempt it
  const Supply& supply_;
  Effort& effort_;
  std::vector<Other> higher_;
  std::vector<Other> above_threshold_;
  std::vector<Other> equal_;
  nanoseconds blocking_{0};
  bool bounded_ = true;
  double preempted_share_ = 0;
  double preempted_early_ = 0;
  double share_ = 0;
  double early_ = 0;
};

// From the highest level downwards, or the other way round.
std::vector<std::size_t> by_level(std::span<const Demand> demands, bool highest_first) {
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return highest_first ? demands[a].level > demands[b].level
                         : demands[a].level < demands[b].level;
  });
  return order;
}

// Of a demand where others may be boosted (`waited`: for how long they may have waited by then).
Response response_among(std::span<const Demand> demands, std::size_t demand, const Waited& waited,
                        nanoseconds limit, const Supply& supply, Effort& effort) {
  if (waited.empty()) {
    return LevelTest{demands, demand, supply, effort}.run(limit);
  }
  const auto delayed = with_boosts(demands, demand, waited);
  return delayed ? LevelTest{*delayed, demand, supply, effort}.run(limit) : Response{};
}

// Empty where nobody is boosted.
Waited waited_of(std::span<const Demand> demands, const Supply& supply, Effort& effort) {
  if (!anyone_boosted(demands)) {
    return {};
  }
  Waited result(demands.size());
  // What is boosted past a demand comes from below it.
  for (const std::size_t i : by_level(demands, false)) {
    if (demands[i].boosted > demands[i].level) {
      const Response response = anyone_waits(demands)
                                    ? Response{}
                                    : response_among(demands, i, result, never, supply, effort);
      result[i] = waited(demands[i], response);
    }
  }
  return result;
}

// Replaces the response by a lesser one if some demands count as blocking.
void choose_blocking(std::span<const Demand> demands, std::span<const Demand> delayed,
                     std::size_t demand, std::span<const Response> responses, const Supply& supply,
                     Effort& effort, Response& least) {
  const nanoseconds distance = least_distance(demands[demand]);
  for (const Blocking& blocking : choices_of_blocking(demands, demand, responses, supply)) {
    const auto changed = seen_blocking(demands, delayed, demand, blocking);
    Response response = LevelTest{changed, demand, supply, effort}.run(distance);
    if (response.bound && *response.bound <= distance &&
        (!least.bound || *response.bound < *least.bound)) {
      response.by = By::suspension;
      least = response;
    }
  }
}

enum class Choices : std::uint8_t { jitter, all };

Response response_with_waits(std::span<const Demand> demands, std::size_t demand,
                             const Waited& waited, std::span<const Response> responses,
                             Choices choices, const Supply& supply, Effort& effort) {
  std::optional<std::vector<Demand>> boosted;
  if (!waited.empty()) {
    boosted = with_boosts(demands, demand, waited);
    if (!boosted) {
      return {};
    }
  }
  const auto delayed =
      as_delayed_by_waits(boosted ? std::span<const Demand>{*boosted} : demands, demand, responses);
  if (!delayed) {
    return {};
  }
  // On a level that is full the busy period may have no end: not all of the effort goes there.
  const auto spend = [&](std::int64_t most, auto compute) {
    Effort part{.steps = std::min(effort.steps, most)};
    const std::int64_t before = part.steps;
    compute(part);
    effort.steps -= before - part.steps;
  };
  Response response;
  spend(most_steps_of_one,
        [&](Effort& part) { response = LevelTest{*delayed, demand, supply, part}.run(never); });
  if (choices == Choices::all && !boosted) {
    spend(std::min(effort.steps / part_for_choices, most_steps_of_one), [&](Effort& part) {
      choose_blocking(demands, *delayed, demand, responses, supply, part, response);
    });
  }
  return response;
}

// The least responses that agree with each other. They only grow on the way, so `enough` may end it
// once it is false for one of them.
template <class Enough>
std::vector<Response> responses_that_agree(std::span<const Demand> demands, const Supply& supply,
                                           Effort& effort, Enough enough) {
  const Waited waited = waited_of(demands, supply, effort);
  std::vector<Response> result;
  result.reserve(demands.size());
  for (const Demand& demand : demands) {
    result.push_back({.bound = demand.lag + demand.execution + demand.suspension});
  }
  // True as long as it is worth going on.
  const auto update = [&](std::size_t i) {
    result[i] = response_with_waits(demands, i, waited, result, Choices::all, supply, effort);
    if (effort.steps <= 0) {
      result.assign(demands.size(), {});
    }
    return effort.steps > 0 && enough(i, result[i]);
  };
  std::vector<std::size_t> order = by_level(demands, true);
  const auto rest = std::ranges::stable_partition(
      order, [&](std::size_t i) { return others_need_response(demands, demands[i]); });
  const std::span needed{order.begin(), rest.begin()};
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::size_t i : needed) {
      const std::optional<nanoseconds> before = result[i].bound;
      if (before && !update(i)) {
        return result;
      }
      changed = changed || result[i].bound != before;
    }
  }
  static_cast<void>(std::ranges::all_of(rest, update));
  return result;
}

}  // namespace

Response fixed_priority_response(std::span<const Demand> demands, std::size_t demand,
                                 Effort& effort, const Supply& supply) {
  const Waited waited = waited_of(demands, supply, effort);
  if (!anyone_waits(demands)) {
    return response_among(demands, demand, waited, never, supply, effort);
  }
  std::vector<Response> at_most;
  at_most.reserve(demands.size());
  for (const Demand& other : demands) {
    at_most.push_back({.bound = other.deadline});
  }
  // What blocks depends on the order of those above.
  return response_with_waits(demands, demand, waited, at_most, Choices::jitter, supply, effort);
}

std::vector<Response> fixed_priority_responses(std::span<const Demand> demands, Effort& effort,
                                               const Supply& supply) {
  if (anyone_waits(demands)) {
    return responses_that_agree(demands, supply, effort,
                                [](std::size_t, const Response&) { return true; });
  }
  const Waited waited = waited_of(demands, supply, effort);
  std::vector<std::optional<Response>> swept(demands.size());
  if (waited.empty()) {
    swept = sweep_levels(demands, effort, supply);
  }
  std::vector<Response> result;
  result.reserve(demands.size());
  for (std::size_t i = 0; i < demands.size(); ++i) {
    result.push_back(swept[i] ? *swept[i]
                              : response_among(demands, i, waited, never, supply, effort));
  }
  return result;
}

bool fixed_priority_keeps(std::span<const Demand> demands, std::size_t demand, Effort& effort,
                          const Supply& supply) {
  const Demand& own = demands[demand];
  const Response response = LevelTest{demands, demand, supply, effort}.run(own.deadline);
  return own.interrupt || (response.bound && *response.bound <= own.deadline);
}

bool fixed_priority_accepts(std::span<const Demand> demands, Effort& effort, const Supply& supply) {
  if (overloaded(demands, supply)) {
    return false;
  }
  const auto keeps_deadline = [&](std::size_t i, const Response& response) {
    return demands[i].interrupt || (response.bound && *response.bound <= demands[i].deadline);
  };
  if (anyone_waits(demands)) {
    const auto responses = responses_that_agree(demands, supply, effort, keeps_deadline);
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (!keeps_deadline(i, responses[i])) {
        return false;
      }
    }
    return true;
  }
  const Waited waited = waited_of(demands, supply, effort);
  // The lowest levels miss first.
  return std::ranges::all_of(by_level(demands, false), [&](std::size_t i) {
    return demands[i].interrupt ||
           keeps_deadline(i,
                          response_among(demands, i, waited, demands[i].deadline, supply, effort));
  });
}

}  // namespace takt::analysis
