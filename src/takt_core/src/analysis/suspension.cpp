// SPDX-License-Identifier: Apache-2.0
#include "suspension.hpp"

#include <algorithm>

namespace takt::analysis {
namespace {

// Responses that depend on each other may grow without end. Above so many periods (and deadlines)
// nobody wants to know them.
constexpr std::int64_t most_periods = 100;

bool is_too_long(const Load& load, nanoseconds response) noexcept {
  const nanoseconds deadline = load.deadline == never ? nanoseconds{0} : load.deadline;
  const nanoseconds wanted = std::max({load.releases.period, deadline, load.suspension});
  return response / most_periods > wanted;
}

// Whether jobs of `other` that are in the way of `own` may have been released long before.
bool is_above(const Load& own, const Load& other) noexcept {
  return other.level > own.level || (other.level == own.level && (own.waits || other.waits));
}

bool blocks_again(const Load& own, const Load& other) noexcept {
  return own.waits && other.level < own.level && other.ceiling >= own.level;
}

}  // namespace

bool anyone_waits(std::span<const Load> loads) noexcept {
  return std::ranges::any_of(loads, &Load::waits);
}

bool depends_on_waiting(std::span<const Load> loads, const Load& own) noexcept {
  return own.waits || std::ranges::any_of(loads, [&](const Load& other) {
           return other.waits && other.level >= own.level;
         });
}

bool others_need_response(std::span<const Load> loads, const Load& load) noexcept {
  return load.waits ||
         // NOLINTNEXTLINE(readability-suspicious-call-argument): load blocks the other one
         std::ranges::any_of(loads, [&](const Load& other) { return blocks_again(other, load); });
}

std::optional<std::vector<Load>> seen_by(std::span<const Load> loads, std::size_t own_index,
                                         std::span<const Response> responses) {
  const Load& own = loads[own_index];
  const sched::Level threshold = std::max(own.level, own.ceiling);
  std::vector<Load> seen{loads.begin(), loads.end()};
  for (std::size_t i = 0; i < loads.size(); ++i) {
    Load& load = seen[i];
    if (load.interrupt) {
      continue;
    }
    if (load.task == own.task) {
      load.execution += load.suspension;
      continue;
    }
    const bool again = blocks_again(own, load);
    if (!again && !is_above(own, load)) {
      continue;
    }
    if (again || load.waits) {
      const std::optional<nanoseconds>& response = responses[i].bound;
      if (!response || is_too_long(load, *response)) {
        return {};
      }
      load.lag = *response - load.execution;
    }
    if (load.waits && load.level == threshold) {
      load.level = threshold + 1;
    } else if (load.level <= own.level) {
      load.level = own.level + 1;
    }
  }
  return seen;
}

}  // namespace takt::analysis
