// SPDX-License-Identifier: Apache-2.0
//
// Bounds and simulated runs of sets that take locks, compared with every run of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "random_locks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {

// A set of this form, of whose callbacks this share may compute for less than their longest.
inline application::Application locking_set(std::uint64_t seed, const LocksForm& form,
                                            double shorter) {
  RandomLocks random{seed};
  application::Application app = random.make(form);
  for (application::Callback& callback : app.callbacks) {
    if (random.chance(shorter)) {
      callback.execution.best = nanoseconds{random.number(1, callback.execution.worst.count())};
      callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
    }
  }
  return app;
}

inline ScenarioReport report_of(const application::Application& app) {
  return analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
}

// The first response that is longer in some run than its bound; "" if there is none.
template <class Runs>
std::string above(const ScenarioReport& report, const Runs& runs) {
  for (std::size_t i = 0; i < runs.responses.size(); ++i) {
    const CallbackReport& callback = report.callbacks[i];
    if (callback.response && nanoseconds{runs.responses[i]} > *callback.response) {
      return callback.name + " comes to " + std::to_string(runs.responses[i]) + ", bound " +
             std::to_string(callback.response->count()) + " by " + callback.bound_by;
    }
  }
  return {};
}

// The same of a simulated run, which is one of them.
template <class Runs>
std::string above(const sim::Result& run, const Runs& runs) {
  for (std::size_t i = 0; i < runs.responses.size() && runs.complete; ++i) {
    if (run.callbacks[i].response.max > nanoseconds{runs.responses[i]}) {
      return run.callbacks[i].name + " is simulated with " +
             std::to_string(run.callbacks[i].response.max.count()) + ", and comes to " +
             std::to_string(runs.responses[i]) + " at most";
    }
  }
  return {};
}

struct ComparedLocks {
  int sets = 0;
  int complete = 0;  // whose runs were all looked at
  int waited = 0;    // in which somebody waited for a lock
  int bounded = 0;   // callbacks with locks and a bound
  int reached = 0;   // of those
  int known = 0;     // of those, in complete sets
  double tightness = 0;

  friend std::ostream& operator<<(std::ostream& out, const ComparedLocks& all) {
    return out << all.complete << " of " << all.sets << " sets complete, in " << all.waited
               << " somebody waits for a lock, " << all.reached << " of " << all.bounded
               << " bounds with locks reached, the longest response in the mean "
               << all.tightness / std::max(1, all.known) << " of its bound\n";
  }
};

// `make`: a set from a seed. `every_run`: of a set. `waits`: jobs wait for something else, too.
template <class Make, class EveryRun>
ComparedLocks compare_with_every_run(int sets, bool waits, const Make& make,
                                     const EveryRun& every_run) {
  ComparedLocks all{.sets = sets};
  for (int i = 0; i < sets && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const application::Application app = make(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text(app));
    const ScenarioReport report = report_of(app);
    const auto runs = every_run(app);
    EXPECT_EQ(above(report, runs), "");
    all.complete += runs.complete ? 1 : 0;
    all.waited += runs.waited ? 1 : 0;
    for (std::size_t k = 0; k < runs.responses.size(); ++k) {
      const CallbackReport& callback = report.callbacks[k];
      const bool is_reached = callback.response == nanoseconds{runs.responses[k]};
      EXPECT_TRUE(is_reached || !callback.exact || !runs.complete);
      if (callback.locks.empty() || !callback.response) {
        continue;
      }
      ++all.bounded;
      all.reached += is_reached ? 1 : 0;
      if (runs.complete) {
        ++all.known;
        all.tightness += static_cast<double>(runs.responses[k]) /
                         static_cast<double>(callback.response->count());
      }
    }
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      const sim::Result run = sim::simulate(app, {.duration = nanoseconds{2000},
                                                  .seed = seed,
                                                  .execution = execution,
                                                  .percentiles = false});
      // There a job may wait when it has computed all, which changes no bound.
      EXPECT_EQ(waits ? "" : above(run, runs), "");
    }
  }
  return all;
}

}  // namespace takt::analysis
