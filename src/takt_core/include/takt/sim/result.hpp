// SPDX-License-Identifier: Apache-2.0
/// @file
/// The results of a simulation. All times are virtual; minimum, mean and maximum are exact,
/// percentiles are those of stats::Histogram (nearest rank, within 1 %).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace takt::sim {

using std::chrono::nanoseconds;

/// The percentiles of Distribution::at.
inline constexpr std::array percentiles = {50.0, 90.0, 99.0, 99.9};

/// The distribution of a series of times; all zero if count is.
struct Distribution {
  std::uint64_t count = 0;                           ///< Number of times.
  nanoseconds min{0};                                ///< Smallest.
  nanoseconds max{0};                                ///< Largest.
  double mean = 0;                                   ///< Nanoseconds.
  bool has_percentiles = false;                      ///< Options::percentiles was set.
  std::array<nanoseconds, percentiles.size()> at{};  ///< The values of `percentiles`.
};

/// The results of one callback: releases = jobs + skipped + unfinished.
struct CallbackResult {
  std::string name;              ///< Name of the task.
  int cpu = 0;                   ///< Its core.
  std::string host = {};         ///< Of a robot with several: its host.
  std::uint64_t releases = 0;    ///< All releases.
  std::uint64_t jobs = 0;        ///< Jobs that have ended.
  std::uint64_t unfinished = 0;  ///< Released, but not ended at the end of the simulation: 0 or 1.
  std::uint64_t skipped = 0;     ///< Releases dropped by the overrun policy.
  /// Deadlines that passed before the end of the job, unfinished jobs included.
  std::uint64_t misses = 0;
  std::uint64_t preemptions = 0;      ///< How often its jobs were preempted.
  std::uint64_t early_releases = 0;   ///< Releases brought forward to keep a data age.
  std::uint64_t budget_overruns = 0;  ///< Jobs that computed for longer than their budget.
  std::uint64_t age_violations = 0;   ///< Starts on data that is missing or older than allowed.
  std::uint64_t without_data = 0;     ///< Of these: no data yet.
  std::uint64_t old_data = 0;  ///< Jobs that started while a newer message of an input was pending.
  std::uint64_t overwritten = 0;    ///< Messages that KEEP_LAST dropped before they were read.
  std::uint64_t lost_arrivals = 0;  ///< Messages that found the queue of arrivals full.
  nanoseconds computed{0};          ///< By all jobs, without overheads of the executor.
  Distribution response = {};       ///< From release to end.
  Distribution start_delay = {};    ///< From release to start.
  /// Age of the data that it reads or is released by, at each use: since the message was made.
  Distribution data_age = {};
  /// The same since the data was sampled, at the release at the head of its chain; max_age limits
  /// this age.
  Distribution sample_age = {};
};

/// The results of one core.
struct CoreResult {
  int cpu = 0;                    ///< Number of the CPU.
  std::string host = {};          ///< Of a robot with several: its host.
  nanoseconds busy{0};            ///< Time in which a job had the core.
  std::uint64_t jobs = 0;         ///< Jobs that have ended on it.
  std::uint64_t preemptions = 0;  ///< Preemptions on it.
};

/// The results of a path of data, which begins with the release of a job of the first callback and
/// ends with each job of the last one that works on its consequences.
struct ChainResult {
  std::string name;              ///< Name of the chain.
  nanoseconds max_latency{0};    ///< As declared; 0: unconstrained.
  std::uint64_t violations = 0;  ///< Latencies above it.
  Distribution latency = {};     ///< Until the first end that each datum reaches.
  Distribution age = {};         ///< At every end, also when a datum is used again.
  /// From an event right after a release of the first callback to the first end that reflects it:
  /// the end of newer data, counted from the datum before it.
  Distribution reaction = {};
};

/// The results of a simulation.
struct Result {
  std::string application;    ///< Its name.
  nanoseconds duration{0};    ///< Simulated time.
  std::string duration_from;  ///< Why this duration, for people.
  bool interrupted = false;   ///< Options::progress ended it.
  std::uint64_t seed = 0;     ///< Options::seed.
  bool drawn = false;      ///< Execution times were drawn; otherwise every job took its worst case.
  bool overheads = false;  ///< Some overheads are not zero.
  std::uint64_t jobs = 0;  ///< Jobs of all callbacks.
  std::uint64_t misses = 0;                    ///< Deadline misses of all callbacks.
  std::vector<CallbackResult> callbacks = {};  ///< In the order of the application.
  std::vector<CoreResult> cores = {};          ///< In the order of the application.
  std::vector<ChainResult> chains = {};        ///< In the order of the application.
};

}  // namespace takt::sim
