// SPDX-License-Identifier: Apache-2.0
/// @file
/// Simulates an application in virtual time: discrete events over the objects by which the executor
/// decides (policies, ready queue, ceilings, releases, data ages), so the simulation shows what the
/// executor would do on cores that nothing else uses. What is modelled and what is not:
/// docs/reference/simulation.md.
///
/// The same application, options and seed give the same result on every machine. A job's execution
/// time depends only on the seed, the callback and the index of its release, so policies can be
/// compared on the same work. Memory does not grow with the duration.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/application/application.hpp"
#include "takt/sim/result.hpp"
#include "takt/visibility.hpp"

namespace takt::sim {

/// How long simulated jobs compute.
enum class ExecutionTimes : std::uint8_t {
  /// every job takes its worst case; with jitter, the first release is noticed as late as possible,
  /// all others at once; each publishes the most messages
  worst,
  drawn,  ///< from the callback's quantiles; jitter and numbers of messages are uniform
};

/// What to simulate.
struct Options {
  nanoseconds duration{0};                           ///< Virtual time; 0: default_duration().
  std::uint64_t seed = 1;                            ///< Of all draws.
  ExecutionTimes execution = ExecutionTimes::worst;  ///< How long jobs compute.
  std::filesystem::path trace = {};                  ///< Trace file to write; empty: none.
  /// Keys and values to store in the trace.
  std::vector<std::pair<std::string, std::string>> trace_attributes = {};
  bool percentiles = true;  ///< Cost 116 KiB of memory for each series, and a little time.

  /// Called from time to time with the share that is done, 0..1; false ends the simulation there.
  std::function<bool(double)> progress = {};
};

/// The least common multiple of the periods of timers and external topics in the first scenario;
/// nothing if there are none, or if it exceeds 64 bits.
TAKT_CORE_PUBLIC std::optional<nanoseconds> hyperperiod(
    const application::Application& application);

/// How long to simulate without a given duration.
struct DefaultDuration {
  nanoseconds time{0};  ///< Virtual time.
  std::string reason;   ///< For people.
};

/// Two hyperperiods plus the largest offset: for periodic timers that take their worst case,
/// everything that can happen has happened by then (Leung & Merrill 1980). Uses the scenario for
/// which this is longest, and counts from the last switch. At most 60 s.
TAKT_CORE_PUBLIC DefaultDuration default_duration(const application::Application& application);

/// Simulates an application. Thread-safe.
/// @throws sched::ScheduleError for an application that an executor refuses, or in which nothing is
/// ever released.
/// @throws std::system_error if the trace cannot be written.
TAKT_CORE_PUBLIC Result simulate(const application::Application& application,
                                 const Options& options = {});

}  // namespace takt::sim
