// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a report, or with a simulated run, beside all that can happen. Nothing where
// it is right.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/exhaustive_sets.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {

inline std::string error_in(const CallbackReport& callback, const ExhaustiveTask& entry,
                            nanoseconds longest, const Reached& reached) {
  if (callback.response && longest > *callback.response) {
    return "is above its bound";
  }
  if (callback.verdict == Verdict::meets && longest > nanoseconds{entry.task.deadline}) {
    return "is late, and was proved not to be";
  }
  if (reached.complete && callback.verdict == Verdict::misses && !reached.missed) {
    return "misses no deadline, and was said to";
  }
  if (reached.complete && callback.exact && callback.response != longest) {
    return "does not reach its bound, and was said to";
  }
  return {};
}

inline std::string text(const std::optional<nanoseconds>& bound) {
  return bound ? std::to_string(bound->count()) : "none";
}

inline std::string error_in(const std::string& what, const std::optional<nanoseconds>& bound,
                            std::int64_t tally) {
  return bound && nanoseconds{tally} > *bound
             ? what + " comes to " + std::to_string(tally) + ", bound " + text(bound)
             : "";
}

inline std::string error_in_data(const ExhaustiveSet& set, const ScenarioReport& report,
                                 const Reached& reached) {
  for (const ChainReport& chain : report.chains) {
    for (const std::string& error : {error_in("latency", chain.latency, reached.latency),
                                     error_in("reaction", chain.reaction, reached.reaction),
                                     error_in("age of the chain", chain.age, reached.age)}) {
      if (!error.empty()) {
        return error;
      }
    }
  }
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    for (std::size_t k = 0; k < set.tasks[i].reads.size(); ++k) {
      const auto age = std::ranges::find(report.ages, topic_of(i, k), &AgeReport::topic);
      const std::string error = error_in("age at " + name_of(i), age->age, reached.ages[i][k]);
      if (!error.empty()) {
        return error + " by " + age->bound_by;
      }
    }
  }
  return {};
}

inline std::string error_in(const ExhaustiveSet& set, const ScenarioReport& report,
                            const Reached& reached) {
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    const CallbackReport& callback = report.callbacks[i];
    const nanoseconds longest{reached.responses[i]};
    if (const std::string error = error_in(callback, set.tasks[i], longest, reached);
        !error.empty()) {
      return callback.name + " responds after " + std::to_string(longest.count()) + ", " + error +
             ": " + text(callback.response) + " by " + callback.bound_by;
    }
  }
  if (reached.complete && report.deadlines == Verdict::misses && !reached.missed) {
    return "no deadline is missed, and was said to be";
  }
  return error_in_data(set, report, reached);
}

// Limits that are said to be kept whatever the scenario, and switches to and fro.
inline std::string error_in(const ExhaustiveSet& set, const SwitchReport& report,
                            const Reached& reached) {
  if (report.verdict != Verdict::meets) {
    return {};
  }
  if (reached.missed) {
    return "a deadline is missed around a switch";
  }
  if (set.max_latency > 0 && reached.latency > set.max_latency) {
    return "a latency of " + std::to_string(reached.latency) + " around a switch";
  }
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    for (std::size_t k = 0; k < set.tasks[i].reads.size(); ++k) {
      if (reached.ages[i][k] > set.tasks[i].reads[k].max_age) {
        return "an age of " + std::to_string(reached.ages[i][k]) + " around a switch";
      }
    }
  }
  return {};
}

inline std::string above(const std::string& what, const sim::Distribution& simulated,
                         std::int64_t longest) {
  return simulated.count > 0 && simulated.max > nanoseconds{longest}
             ? what + " is simulated with " + std::to_string(simulated.max.count()) +
                   ", and comes to " + std::to_string(longest) + " at most"
             : "";
}

inline std::string error_in(const sim::Result& run, const Reached& reached) {
  if (!reached.complete) {
    return {};
  }
  for (std::size_t i = 0; i < run.callbacks.size(); ++i) {
    const sim::CallbackResult& callback = run.callbacks[i];
    for (const std::string& error :
         {above(callback.name, callback.response, reached.responses[i]),
          reached.oldest[i] < 0  // its inputs keep no data
              ? std::string{}
              : above("data at " + callback.name, callback.sample_age, reached.oldest[i])}) {
      if (!error.empty()) {
        return error;
      }
    }
  }
  for (const sim::ChainResult& chain : run.chains) {
    for (const std::string& error : {above("latency", chain.latency, reached.latency),
                                     above("reaction", chain.reaction, reached.reaction),
                                     above("age of the chain", chain.age, reached.age)}) {
      if (!error.empty()) {
        return error;
      }
    }
  }
  return {};
}

// The same of simulated runs, with the longest execution times and with drawn ones.
inline std::string error_in_simulations(const application::Application& app, std::uint64_t seed,
                                        const Reached& reached) {
  for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
    const sim::Result run = sim::simulate(
        app,
        {.duration = nanoseconds{200}, .seed = seed, .execution = execution, .percentiles = false});
    if (std::string error = error_in(run, reached); !error.empty()) {
      return error;
    }
  }
  return {};
}

}  // namespace takt::analysis
