// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a core gives to the callbacks that run on it: how much of it they get, how late it begins
/// with a job, and what interrupts them. These are assumptions of a proof, as execution times are.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "takt/visibility.hpp"

namespace takt::application {

using std::chrono::nanoseconds;

/// The least time that a core provides. Either a periodic resource (Shin & Lee 2003), if `period`
/// is above 0, with a deadline within each period (Easwaran, Anand & Lee 2007), or a bounded delay
/// (Mok, Feng & Chen 2001).
struct Supply {
  /// The denominator of `rate`.
  static constexpr std::int64_t whole = 1'000'000'000;

  nanoseconds budget{0};      ///< Provided in every period, at any time within it.
  nanoseconds period{0};      ///< Of the budget; 0: a bounded delay.
  nanoseconds deadline{0};    ///< From the begin of each period, for the budget; 0: the period.
  std::int64_t rate = whole;  ///< In billionths of the core, after the delay.
  nanoseconds delay{0};       ///< The longest time without any supply.
};

/// Interrupts of one source. They take time from every callback of the core.
struct Interrupts {
  nanoseconds period{0};    ///< Of the interrupts in the long run; above 0.
  nanoseconds duration{0};  ///< Of one of them, at most.
  std::int64_t burst = 1;   ///< So many may come at once: in a window t, t / period more.
  nanoseconds jitter{0};    ///< Largest deviation from the period, besides bursts.
};

/// On how much a measured supply rests: it is an assumption with a confidence.
struct Measured {
  std::int64_t windows = 0;  ///< In which the core was watched; above 0.
  nanoseconds window{0};     ///< Length of each; above 0.
};

/// What is known about one core.
struct TAKT_CORE_PUBLIC Core {
  int cpu = 0;                              ///< Number of the CPU.
  std::optional<Supply> supply = {};        ///< Nothing: all of the time.
  nanoseconds latency{0};                   ///< Before each job begins to compute, at most.
  std::vector<Interrupts> interrupts = {};  ///< All sources.
  std::optional<Measured> measured = {};    ///< Nothing: all of this is declared.
};

}  // namespace takt::application
