// SPDX-License-Identifier: Apache-2.0
#include "suspension.hpp"

#include <algorithm>

#include "lock_blocking.hpp"
#include "takt/os/saturating.hpp"

namespace takt::analysis {
namespace {

// Responses that depend on each other may grow without end. Above so many periods (and deadlines)
// nobody wants to know them.
constexpr std::int64_t most_periods = 100;

bool is_too_long(const Demand& demand, nanoseconds response) noexcept {
  const nanoseconds deadline = demand.deadline == never ? nanoseconds{0} : demand.deadline;
  const nanoseconds wanted = std::max({demand.releases.period, deadline, demand.suspension});
  return response / most_periods > wanted;
}

// Whether jobs of `other` that are in the way of `own` may have been released long before.
bool is_above(const Demand& own, const Demand& other) noexcept {
  return other.level > own.level || (other.level == own.level && (own.waits || other.waits));
}

// What a less urgent job computes in spite of `own`, at most: all of it if it holds a group, else
// its sections.
nanoseconds blocks_again(const Demand& own, const Demand& other) noexcept {
  if (!own.waits || other.level >= own.level || other.interrupt) {
    return nanoseconds{0};
  }
  return other.ceiling >= own.level ? other.execution : within_sections(other, own.level);
}

}  // namespace

bool anyone_waits(std::span<const Demand> demands) noexcept {
  return std::ranges::any_of(demands, &Demand::waits);
}

bool depends_on_waiting(std::span<const Demand> demands, const Demand& own) noexcept {
  return own.waits || std::ranges::any_of(demands, [&](const Demand& other) {
           return other.waits && other.reach() >= own.level;
         });
}

bool others_need_response(std::span<const Demand> demands, const Demand& demand) noexcept {
  return demand.waits || std::ranges::any_of(demands, [&](const Demand& other) {
           // NOLINTNEXTLINE(readability-suspicious-call-argument): demand blocks the other one
           return blocks_again(other, demand).count() > 0;
         });
}

std::optional<std::vector<Demand>> as_delayed_by_waits(std::span<const Demand> demands,
                                                       std::size_t own_index,
                                                       std::span<const Response> responses) {
  const Demand& own = demands[own_index];
  const sched::Level threshold = std::max(own.level, own.ceiling);
  std::vector<Demand> delayed{demands.begin(), demands.end()};
  for (std::size_t i = 0; i < demands.size(); ++i) {
    Demand& demand = delayed[i];
    if (demand.interrupt) {
      continue;
    }
    if (std::ranges::find(demand.clients, own.task) != demand.clients.end()) {
      demand.level = own.level - 1;
      demand.ceiling = sched::no_ceiling;
      demand.sections.clear();
      continue;
    }
    if (demand.task == own.task) {
      demand.execution += demand.suspension;
      continue;
    }
    const nanoseconds again = blocks_again(own, demand);
    if (again.count() == 0 && !is_above(own, demand)) {
      continue;
    }
    if (again.count() > 0) {
      demand.execution = again;
    }
    if (again.count() > 0 || demand.waits) {
      const std::optional<nanoseconds>& response = responses[i].bound;
      if (!response || is_too_long(demand, *response)) {
        return {};
      }
      demand.lag = *response - demand.execution;
    }
    const bool by_sections = again.count() > 0 && demand.ceiling < own.level;
    // It may have started before, and take locks while this one waits with its group.
    if (by_sections || (demand.waits && demand.level == threshold)) {
      demand.level = threshold + 1;
    } else if (demand.level <= own.level) {
      demand.level = own.level + 1;
    }
  }
  return delayed;
}

std::optional<std::vector<Demand>> with_sections_as_own(std::span<const Demand> demands,
                                                        std::size_t own_index) {
  const Demand& own = demands[own_index];
  if (!own.waits || own.suspensions == 0) {
    return {};
  }
  std::vector<Demand> below;
  std::vector<Demand> result{demands.begin(), demands.end()};
  for (Demand& demand : result) {
    const bool waited_for = std::ranges::count(demand.clients, own.task) > 0;
    if (demand.level < own.level && demand.ceiling < own.level && !waited_for) {
      below.push_back(demand);
      demand.sections.clear();
    }
  }
  const nanoseconds each = blocking_by_locks(below, own.level, nanoseconds{0});
  if (each.count() == 0) {
    return {};
  }
  Demand& changed = result[own_index];
  changed.execution = os::add_sat(own.execution, os::mul_sat(each, own.suspensions + 1));
  // Each interval is blocked once, and computes one segment: that is where it counts.
  if (std::ssize(changed.segments) == own.suspensions + 1) {
    for (ComputingSegment& segment : changed.segments) {
      segment.longest = os::add_sat(segment.longest, each);
    }
  }
  return result;
}

}  // namespace takt::analysis
