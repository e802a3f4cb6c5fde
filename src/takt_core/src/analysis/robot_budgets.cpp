// SPDX-License-Identifier: Apache-2.0
#include "robot_budgets.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "../application/kernel_scheduling.hpp"
#include "../application/robot.hpp"

namespace takt::analysis {
namespace {

using application::Process;
using application::Reservation;
using std::chrono::microseconds;

constexpr int coarse = 8;                          // steps in which the first one is looked for
constexpr nanoseconds least = microseconds{1000};  // period: shorter ones cost too many switches
constexpr double alike = 1.02;  // shares: of those the longest period, which switches least

nanoseconds step_of(const Reservation& reservation) {
  const auto whole = std::chrono::duration_cast<microseconds>(reservation.period / 1000);
  return std::max(whole, microseconds{1});
}

double share_of(const Reservation& reservation) {
  return static_cast<double>(reservation.runtime.count()) /
         static_cast<double>(reservation.period.count());
}

Reservation with_period(const Reservation& from, nanoseconds period) {
  Reservation result = from;
  const double ratio =
      static_cast<double>(period.count()) / static_cast<double>(from.period.count());
  const auto scaled = [&](nanoseconds time) {
    const double ns = static_cast<double>(time.count()) * ratio;
    return microseconds{std::max<std::int64_t>(1, static_cast<std::int64_t>(ns / 1000))};
  };
  result.period = period;
  result.deadline =
      from.deadline == from.period ? period : std::min<nanoseconds>(scaled(from.deadline), period);
  result.runtime = std::min<nanoseconds>(scaled(from.runtime), result.deadline);
  return result;
}

// The smallest runtime with this period and deadline; the first one found from below in coarse
// steps, and halved from there: what goes below may need it small, what runs in it large.
std::optional<Processes> smallest(Processes processes, std::size_t number, const Accepts& accepts) {
  Reservation& reservation = *processes[number].reservation;
  const nanoseconds step = step_of(reservation);
  const std::int64_t most = largest_budget(processes, number) / step;
  const auto fits = [&](std::int64_t steps) {
    reservation.runtime = steps * step;
    return steps > 0 && accepts(processes);
  };
  std::int64_t refused = 0;
  for (int i = 1; i <= coarse; ++i) {
    std::int64_t accepted = most * i / coarse;
    if (accepted == refused) {
      continue;
    }
    if (!fits(accepted)) {
      refused = accepted;
      continue;
    }
    while (accepted - refused > 1) {
      const std::int64_t middle = (accepted + refused) / 2;
      (fits(middle) ? accepted : refused) = middle;
    }
    reservation.runtime = accepted * step;
    return processes;
  }
  return {};
}

}  // namespace

nanoseconds largest_budget(const Processes& processes, std::size_t number) {
  const Process& own = processes[number];
  double left = 1;
  for (const Process& other : processes) {
    if (&other != &own && other.reservation && application::share_core(other, own)) {
      left -= static_cast<double>(other.reservation->runtime.count()) /
              static_cast<double>(other.reservation->deadline.count());
    }
  }
  const nanoseconds deadline = own.reservation->deadline;
  const auto most = static_cast<std::int64_t>(left * static_cast<double>(deadline.count()));
  const nanoseconds step = step_of(*own.reservation);
  return std::max<std::int64_t>(0, most / step.count()) * step;
}

Processes with_smallest_budget(const Processes& processes, std::size_t number, nanoseconds shortest,
                               const Accepts& accepts) {
  const Reservation& described = *processes[number].reservation;
  std::vector<nanoseconds> periods = {described.period};
  if (shortest < never) {
    periods.insert(periods.end(), {shortest, shortest / 2, shortest / 4, shortest / 8});
  }
  std::erase_if(periods, [&](nanoseconds one) { return one < std::min(least, described.period); });
  std::ranges::sort(periods, std::ranges::greater{});
  const auto again = std::ranges::unique(periods);
  periods.erase(again.begin(), again.end());
  Processes best = processes;
  bool is_accepted = accepts(processes);
  for (const nanoseconds period : periods) {
    Processes changed = processes;
    changed[number].reservation = with_period(described, period);
    const std::optional<Processes> found = smallest(std::move(changed), number, accepts);
    if (found && (!is_accepted || share_of(*(*found)[number].reservation) * alike <
                                      share_of(*best[number].reservation))) {
      best = *found;
      is_accepted = true;
    }
  }
  return best;
}

}  // namespace takt::analysis
