// SPDX-License-Identifier: Apache-2.0
//
// Random applications with locks: no simulated response is above its bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>

#include "random_locks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

LocksForm wide(const std::string& policy, std::optional<application::LockProtocol> across = {},
               bool waits = false) {
  return {.periods = {24, 40, 50, 60, 80, 100, 120, 200, 300},
          .policy = policy,
          .across = across,
          .waits = waits,
          .varied = true};
}

struct Comparison {
  int bounded = 0;
  int chains = 0;
  int above = 0;  // responses and latencies above bounds
  double tightness = 0;
  std::string first;  // that is above
};

Comparison compare(const application::Application& app, const ScenarioReport& report,
                   std::uint64_t seed) {
  Comparison found;
  for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
    const sim::Result run = sim::simulate(app, {.duration = nanoseconds{6000},
                                                .seed = seed,
                                                .execution = execution,
                                                .percentiles = false});
    for (std::size_t i = 0; i < report.chains.size(); ++i) {
      const nanoseconds longest = run.chains[i].latency.max;
      if (report.chains[i].latency && longest > *report.chains[i].latency) {
        ++found.above;
        found.first = "chain " + report.chains[i].name + " takes " +
                      std::to_string(longest.count()) + ", bound " +
                      std::to_string(report.chains[i].latency->count());
      }
      found.chains += report.chains[i].latency ? 1 : 0;
    }
    for (std::size_t i = 0; i < report.callbacks.size(); ++i) {
      const CallbackReport& bound = report.callbacks[i];
      const nanoseconds longest = run.callbacks[i].response.max;
      if (!bound.response || run.callbacks[i].jobs == 0) {
        continue;
      }
      ++found.bounded;
      found.tightness +=
          static_cast<double>(longest.count()) / static_cast<double>(bound.response->count());
      if (longest > *bound.response) {
        ++found.above;
        found.first = bound.name + " responds after " + std::to_string(longest.count()) +
                      ", bound " + std::to_string(bound.response->count()) + " by " +
                      bound.bound_by;
      }
    }
  }
  return found;
}

void keep_to_bounds(const std::string& policy, std::optional<application::LockProtocol> across = {},
                    bool waits = false) {
  const int sets = rounds(800);
  Comparison all;
  int blocked = 0;
  const LocksForm form = wide(policy, across, waits);
  for (int i = 0; i < sets && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const application::Application app = RandomLocks{seed}.make(form);
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    const Comparison found = compare(app, report, seed);
    EXPECT_EQ(found.above, 0) << "seed " << seed << ": " << found.first << "\n" << text(app);
    all.bounded += found.bounded;
    all.tightness += found.tightness;
    all.chains += found.chains;
    blocked += static_cast<int>(std::ranges::count_if(
        report.callbacks, [](const CallbackReport& callback) { return !callback.locks.empty(); }));
  }
  std::cout << sets << " sets, " << all.bounded << " responses, on average "
            << all.tightness / std::max(1, all.bounded) << " of their bounds; " << blocked
            << " callbacks with blocking by locks, " << all.chains << " latencies of chains\n";
  EXPECT_GT(all.bounded, sets * 3);
  EXPECT_GT(blocked, sets / 2);
  EXPECT_GT(all.chains, sets / 4);
}

TEST(Locks, simulated_responses_are_within_their_bounds) {
  keep_to_bounds("fp");
}

TEST(Locks, simulated_responses_are_within_their_bounds_under_edf) {
  keep_to_bounds("edf");
}

TEST(SpinLocks, simulated_responses_are_within_their_bounds) {
  keep_to_bounds("fp", application::LockProtocol::spin);
}

TEST(LocksOfFmlpPlus, simulated_responses_are_within_their_bounds) {
  keep_to_bounds("fp", application::LockProtocol::fmlp_plus);
}

TEST(SpinLocks, simulated_responses_are_within_their_bounds_under_edf) {
  keep_to_bounds("edf", application::LockProtocol::spin);
}

TEST(LocksAndWaits, simulated_responses_are_within_their_bounds) {
  keep_to_bounds("fp", {}, true);
}

TEST(LocksAndWaits, simulated_responses_are_within_their_bounds_across_cores) {
  keep_to_bounds("fp", application::LockProtocol::spin, true);
  keep_to_bounds("fp", application::LockProtocol::fmlp_plus, true);
}

// Whoever left out the waiting for other cores, but not the blocking, would be found.
TEST(SpinLocks, bounds_without_the_other_cores_are_exceeded) {
  for (const std::string policy : {"fp", "edf"}) {
    int above = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      const application::Application app =
          RandomLocks{seed}.make(wide(policy, application::LockProtocol::spin));
      application::Application separate = app;
      for (application::Callback& callback : separate.callbacks) {
        for (application::CriticalSection& section : callback.critical_sections) {
          section.lock += app.locks.size() * static_cast<std::size_t>(callback.task.cpu);
        }
      }
      for (std::size_t cpu = 1; cpu < app.cpus.size(); ++cpu) {
        separate.locks.insert(separate.locks.end(), app.locks.begin(), app.locks.end());
      }
      const ScenarioReport report =
          analyse(separate, {.sensitivity = false, .proposals = false}).scenarios.front();
      above += compare(app, report, seed).above > 0 ? 1 : 0;
    }
    EXPECT_GT(above, 5) << policy;
  }
}

// Whoever left out what locks add would be found.
int exceeded_without_blocking(const std::string& policy) {
  int above = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const application::Application app = RandomLocks{seed}.make(wide(policy));
    ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    for (CallbackReport& callback : report.callbacks) {
      if (callback.response && !callback.locks.empty()) {
        *callback.response -= callback.blocking;
      }
    }
    above += compare(app, report, seed).above > 0 ? 1 : 0;
  }
  return above;
}

TEST(Locks, bounds_without_blocking_by_locks_are_exceeded) {
  EXPECT_GT(exceeded_without_blocking("fp"), 20);
  EXPECT_GT(exceeded_without_blocking("edf"), 5);
}

}  // namespace
}  // namespace takt::analysis
