// SPDX-License-Identifier: Apache-2.0
//
// What a simulation found. All times are virtual; minimum, mean and maximum are exact, percentiles
// are those of stats::Histogram (nearest rank, within 1 %).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace takt::sim {

using std::chrono::nanoseconds;

inline constexpr std::array percentiles = {50.0, 90.0, 99.0, 99.9};

// Of a series of times. All zero when the count is.
struct Distribution {
  std::uint64_t count = 0;
  nanoseconds min{0};
  nanoseconds max{0};
  double mean = 0;               // ns
  bool has_percentiles = false;  // they were asked for
  std::array<nanoseconds, percentiles.size()> at{};
};

// releases = jobs + skipped + unfinished.
struct CallbackResult {
  std::string name;
  int cpu = 0;
  std::uint64_t releases = 0;
  std::uint64_t jobs = 0;        // that have ended
  std::uint64_t unfinished = 0;  // released, and not ended when the simulation did: 0 or 1
  std::uint64_t skipped = 0;     // releases dropped by the overrun policy
  std::uint64_t misses = 0;      // deadlines that passed before the end of the job, unfinished ones
                                 // included
  std::uint64_t preemptions = 0;
  std::uint64_t early_releases = 0;   // moved forward to keep a data age
  std::uint64_t budget_overruns = 0;  // jobs that computed for longer than their budget
  std::uint64_t age_violations = 0;   // data older than the reader allows, or none yet, at a start
  std::uint64_t without_data = 0;     // of these: none yet
  std::uint64_t old_data = 0;     // jobs that started while a newer message of an input was pending
  std::uint64_t overwritten = 0;  // messages that KEEP_LAST dropped before they were read
  std::uint64_t lost_arrivals = 0;  // messages that found the queue of arrivals full
  nanoseconds computed{0};          // by all jobs, without overheads of the executor
  Distribution response = {};       // from release to end
  Distribution start_delay = {};    // from release to start
  // Of what it reads and is released by, each time that it is used: since the message was made, and
  // since its data was sampled (the release at the head of its chain), which max_age limits.
  Distribution data_age = {};
  Distribution sample_age = {};
};

struct CoreResult {
  int cpu = 0;
  nanoseconds busy{0};
  std::uint64_t jobs = 0;
  std::uint64_t preemptions = 0;
};

// A path of data. It begins with the release of a job of the first callback and ends with that of
// each job of the last one that works on what came of it.
struct ChainResult {
  std::string name;
  nanoseconds max_latency{0};    // as declared; 0: unconstrained
  std::uint64_t violations = 0;  // latencies above it
  Distribution latency = {};     // of the first end that each datum reaches
  Distribution age = {};         // at every end, also when the datum is used again
  // From an event right after a release of the first callback to the first end that knows of it:
  // the end of newer data, counted from the datum before it.
  Distribution reaction = {};
};

struct Result {
  std::string application;
  nanoseconds duration{0};    // simulated
  std::string duration_from;  // why that long
  bool interrupted = false;
  std::uint64_t seed = 0;
  bool drawn = false;      // execution times were drawn; else every job took its worst case
  bool overheads = false;  // some are not zero
  std::uint64_t jobs = 0;
  std::uint64_t misses = 0;
  std::vector<CallbackResult> callbacks = {};
  std::vector<CoreResult> cores = {};
  std::vector<ChainResult> chains = {};
};

}  // namespace takt::sim
