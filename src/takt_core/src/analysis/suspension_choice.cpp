// SPDX-License-Identifier: Apache-2.0
#include "suspension_choice.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace takt::analysis {
namespace {

// Up to so many demands that may block, every choice is looked at: 64.
constexpr std::size_t most_for_all_choices = 6;
// Up to so many, all choices by rank.
constexpr std::size_t most_for_all_ranks = 32;

// Whether only jobs from its own level upwards compute while a job of `own` is ready, in every run,
// and whether the same is true of all above.
bool is_freely_preemptive(std::span<const Demand> demands, std::size_t own_index) noexcept {
  const Demand& own = demands[own_index];
  if (own.interrupt || own.ceiling > own.level) {
    return false;
  }
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const Demand& other = demands[i];
    const auto keeps_out = [&](sched::Level reach) {
      return reach > other.level && reach >= own.level;
    };
    // Also one of its own sections keeps those above from the core.
    if (std::ranges::any_of(other.sections, keeps_out, &Section::reach)) {
      return false;
    }
    const bool alike = other.level == own.level || keeps_out(other.ceiling);
    if (i != own_index && !other.interrupt && alike) {
      return false;
    }
  }
  return true;
}

// At most one of its jobs is not done at any time, and no other demand shares its level.
bool may_block(std::span<const Demand> demands, std::size_t index,
               std::span<const Response> responses) noexcept {
  const Demand& demand = demands[index];
  const std::optional<nanoseconds>& response = responses[index].bound;
  return demand.waits && !demand.interrupt && response && *response <= least_distance(demand) &&
         std::ranges::count(demands, demand.level, &Demand::level) == 1;
}

// What a demand adds to the work as blocking, divided by what it adds as jitter if its jobs end so
// late, as if work grew with time and not by whole jobs (the linear approximation of section 5).
double cost(std::span<const Demand> demands, const Demand& demand, nanoseconds end) noexcept {
  double share = 0;
  for (const Demand& other : demands) {
    share += other.level >= demand.level ? utilization(other) : 0;
  }
  const auto late = static_cast<double>((end - demand.execution).count());
  return static_cast<double>(demand.suspension.count()) * share /
         std::max(utilization(demand) * late, 1e-9);
}

// Whether responses do not come back to these demands as jitter. A choice by responses may be worse
// when these are longer, and a bound that went to and fro with them would come to no end.
bool nothing_follows_responses(std::span<const Demand> demands) noexcept {
  return std::ranges::all_of(demands, [](const Demand& demand) {
    return demand.releases.jitter.count() == 0 && (!demand.interrupt || demand.lag.count() == 0);
  });
}

std::vector<Blocking> every_choice(const Blocking& candidates) {
  std::vector<Blocking> result;
  for (std::size_t bits = 1; bits < std::size_t{1} << candidates.size(); ++bits) {
    Blocking& choice = result.emplace_back();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if ((bits >> i & 1) != 0) {
        choice.push_back(candidates[i]);
      }
    }
  }
  return result;
}

template <class Takes>
void add_those(std::vector<Blocking>& choices, const Blocking& candidates, Takes takes) {
  Blocking choice;
  std::ranges::copy_if(candidates, std::back_inserter(choice), takes);
  choices.push_back(std::move(choice));
}

// Those that cost less than as jitter; those whose jobs do not wait longer than they compute, with
// which the bound is not above that of suspension as blocking alone (lemma 17); and the first of
// all candidates in the order of their costs, for each number of them.
std::vector<Blocking> some_choices(std::span<const Demand> demands, Blocking candidates,
                                   std::span<const Response> responses) {
  std::vector<Blocking> result;
  if (nothing_follows_responses(demands)) {
    add_those(result, candidates,
              [&](std::size_t i) { return cost(demands, demands[i], *responses[i].bound) < 1; });
  }
  add_those(result, candidates,
            [&](std::size_t i) { return demands[i].suspension <= demands[i].execution; });
  if (candidates.size() > most_for_all_ranks) {
    return result;
  }
  std::ranges::sort(candidates, {}, [&](std::size_t i) {
    return cost(demands, demands[i], demands[i].releases.period);
  });
  for (auto end = candidates.begin(); end != candidates.end();) {
    result.emplace_back(candidates.begin(), ++end);
  }
  return result;
}

}  // namespace

nanoseconds least_distance(const Demand& demand) noexcept {
  return demand.releases.time(1);
}

std::vector<Blocking> choices_of_blocking(std::span<const Demand> demands, std::size_t own,
                                          std::span<const Response> responses,
                                          const Supply& supply) {
  if (!supply.whole() || !is_freely_preemptive(demands, own)) {
    return {};
  }
  Blocking candidates;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (demands[i].level > demands[own].level && may_block(demands, i, responses)) {
      candidates.push_back(i);
    }
  }
  if (candidates.size() <= most_for_all_choices) {
    return every_choice(candidates);
  }
  return some_choices(demands, candidates, responses);
}

std::vector<Demand> with_blocking(std::span<const Demand> demands, std::span<const Demand> delayed,
                                  std::size_t own, const Blocking& blocking) {
  std::vector<Demand> result{delayed.begin(), delayed.end()};
  for (const std::size_t j : blocking) {
    result[j].lag -= delayed[j].lag - demands[j].lag;
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (i != own && demands[i].level >= demands[j].level) {
        result[i].lag += demands[j].suspension;
      }
    }
  }
  return result;
}

}  // namespace takt::analysis
