// SPDX-License-Identifier: Apache-2.0
//
// The measuring loop of supply: how much of a core a thread gets. In windows it reads the clock
// again and again; where two readings are far apart, something else had the core in between: an
// interrupt, the hypervisor, a thread of higher priority. It never takes more than half of the
// core: between two windows it sleeps for as long as a window is.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "takt/probe/roles.hpp"
#include "takt/probe/sample_file.hpp"

namespace takt::probe {

/// Two readings of the clock without anything in between are tens of ns apart.
inline constexpr std::chrono::nanoseconds shortest_gap{1000};
/// The longest time between two windows at a real-time priority, which all others have to wait for.
inline constexpr std::chrono::nanoseconds longest_supply_period{std::chrono::seconds{1}};
/// A shorter window sees little more than its own beginning.
inline constexpr std::chrono::nanoseconds shortest_supply_period{std::chrono::milliseconds{1}};

/// How long a window of supply is.
constexpr std::chrono::nanoseconds supply_window(std::chrono::nanoseconds period) {
  return period / 2;
}

/// How many gaps of one window have a record each; further ones prolong the last record, so that
/// a recording never shows more supply than there was.
constexpr std::uint64_t gaps_of_a_window(std::chrono::nanoseconds period) {
  constexpr std::chrono::microseconds each{200};
  constexpr std::uint64_t least = 16;
  return std::max(least, static_cast<std::uint64_t>(supply_window(period) / each));
}

/// Reads `clock()` from `begin` until it has passed `end` or `stopped()`; records the gaps of
/// window `sequence` where there is a file. Returns the last reading.
template <class Clock, class Stopped>
os::TimePoint watch_window(std::uint64_t sequence, os::TimePoint begin, os::TimePoint end,
                           std::uint64_t most, SampleFile* gaps, Clock&& clock,
                           Stopped&& stopped) noexcept {
  std::uint64_t recorded = 0;
  os::TimePoint last = begin;
  while (last < end && !stopped()) {
    const os::TimePoint now = clock();
    if (now - last >= shortest_gap && gaps != nullptr) {
      if (recorded < most) {
        gaps->record(sequence, last, last, now);
        ++recorded;
      } else {
        gaps->prolong_last(now);
      }
    }
    last = now;
  }
  return last;
}

/// Watches a window in every period. A sample is a window: its planned begin, and when the thread
/// had the core. `gaps` may be null: nothing is recorded of them.
Outcome supply(const Bench& bench, SampleFile* gaps);

}  // namespace takt::probe
