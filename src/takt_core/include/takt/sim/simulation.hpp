// SPDX-License-Identifier: Apache-2.0
//
// Plays an application in virtual time: discrete events over the objects that the executor decides
// by (policies, ready queue, ceilings, releases, data ages), so that what is simulated is what
// would be executed on cores that are never taken away. What is modelled and what is not:
// docs/reference/simulation.md.
//
// The same application, options and seed give the same result on every machine. A job's execution
// time depends on the seed, the callback and the index of its release alone, so that policies can
// be compared on the same work. Memory does not grow with the duration.
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

enum class ExecutionTimes : std::uint8_t {
  worst,  // every job takes its worst case; with jitter, the first one is noticed as late as it may
          // be, all others at once
  drawn,  // from the callback's quantiles; the jitter is uniform
};

struct Options {
  nanoseconds duration{0};  // of virtual time; 0: default_duration()
  std::uint64_t seed = 1;
  ExecutionTimes execution = ExecutionTimes::worst;
  std::filesystem::path trace = {};                                        // empty: metrics only
  std::vector<std::pair<std::string, std::string>> trace_attributes = {};  // more about the trace
  bool percentiles = true;  // cost memory (116 KiB a series) and a little time
  // Called now and then with the share that is done; false ends the simulation there.
  std::function<bool(double)> progress = {};
};

// The least common multiple of the periods of timers and external topics in the first scenario;
// nothing when there are none, or when it does not fit into 64 bits.
TAKT_CORE_PUBLIC std::optional<nanoseconds> hyperperiod(
    const application::Application& application);

// How long to simulate when nobody says.
struct DefaultDuration {
  nanoseconds time{0};
  std::string reason;
};

// Two hyperperiods and the largest offset: for periodic timers that take their worst case,
// everything that can happen has happened by then (Leung & Merrill 1980). Of the scenario where
// that is longest, and from the last switch on. At most 60 s.
TAKT_CORE_PUBLIC DefaultDuration default_duration(const application::Application& application);

// Throws sched::ScheduleError for an application that an executor refuses, or in which nothing is
// ever released; std::system_error for a trace that cannot be written.
TAKT_CORE_PUBLIC Result simulate(const application::Application& application,
                                 const Options& options = {});

}  // namespace takt::sim
