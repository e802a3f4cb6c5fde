// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/fixed_priority.hpp"

#include <algorithm>
#include <numeric>

#include "boosting.hpp"
#include "level_sweep.hpp"
#include "level_test.hpp"
#include "suspension.hpp"
#include "suspension_choice.hpp"
#include "suspension_intervals.hpp"

namespace takt::analysis {
namespace {

// Where somebody waits and each demand is looked at several times.
constexpr std::int64_t most_steps_of_one = 500'000;
// All choices of what blocks together take no more than such a part of the effort that is left.
constexpr std::int64_t part_for_choices = 16;

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
    const auto changed = with_blocking(demands, delayed, demand, blocking);
    Response response = LevelTest{changed, demand, supply, effort}.run(distance);
    if (response.bound && *response.bound <= distance &&
        (!least.bound || *response.bound < *least.bound)) {
      response.by = By::suspension;
      least = response;
    }
  }
}

enum class Choices : std::uint8_t { jitter, intervals, all };

Response response_among_waiting(std::span<const Demand> demands, std::size_t demand,
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
  if (choices != Choices::jitter && !boosted) {
    spend(most_steps_of_one, [&](Effort& part) {
      const Response other =
          response_by_intervals(demands, *delayed, demand, responses, supply, part);
      if (other.bound && (!response.bound || *other.bound < *response.bound)) {
        response = other;
      }
    });
  }
  if (choices == Choices::all && !boosted) {
    spend(std::min(effort.steps / part_for_choices, most_steps_of_one), [&](Effort& part) {
      choose_blocking(demands, *delayed, demand, responses, supply, part, response);
    });
  }
  return response;
}

Response response_with_waits(std::span<const Demand> demands, std::size_t demand,
                             const Waited& waited, std::span<const Response> responses,
                             Choices choices, const Supply& supply, Effort& effort) {
  if (demands[demand].unanswered) {
    return {};
  }
  Response least =
      response_among_waiting(demands, demand, waited, responses, choices, supply, effort);
  if (const auto changed = with_sections_as_own(demands, demand)) {
    // Those above as blocking: before its release sections may have kept them from the core, too.
    const Choices some = std::min(choices, Choices::intervals);
    const Response other =
        response_among_waiting(*changed, demand, waited, responses, some, supply, effort);
    if (other.bound && (!least.bound || *other.bound < *least.bound)) {
      least = other;
    }
  }
  return least;
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
