// SPDX-License-Identifier: Apache-2.0
//
// Tiny applications with chains through a call, whose bounds are compared with every run of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "analysis/random_tasks.hpp"
#include "call_documents.hpp"
#include "every_call.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/application/parse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {

// A client, its server and who reads what they publish, and others beside them.
struct TinyChains {
  std::vector<TinyTask> tasks;                           // the client first, then its server
  std::vector<std::pair<Path, std::size_t>> paths = {};  // and which task ends them
  std::vector<int> cpus = {};                            // by process; empty: there is one
  std::int64_t way = 0;                                  // of a message between processes
};

inline Part short_part(RandomTasks& random) {
  const std::int64_t longest = random.number(1, 2);
  return {.shortest = random.chance(0.5) ? longest : 1, .longest = longest};
}

// A process is above those with higher numbers; within it, each priority is another one.
inline void draw_priorities(RandomTasks& random, TinyChains& set) {
  std::vector<int> priorities;
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    priorities.insert(priorities.begin() + random.number(0, static_cast<std::int64_t>(i)),
                      90 - static_cast<int>(i));
  }
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    const int above = set.cpus.empty() ? 0 : 100 * (3 - set.tasks[i].process);
    set.tasks[i].priority = priorities[i] + above;
  }
}

inline std::string text(const TinyChains& set) {
  std::vector<Described> all;
  for (const TinyTask& one : set.tasks) {
    const std::string how =
        one.after >= 0 ? released(one.after == 0 ? "way" : "word")
        : one.period == 0
            ? served(one.service)
            : R"("overrun":"catch_up","offset":"unknown","period":)" + std::to_string(one.period);
    all.push_back({.name = "t" + std::to_string(all.size()),
                   .released = how,
                   .cpu = set.cpus.empty() ? one.cpu : one.process,
                   .priority = one.priority % 100,
                   .parts = one.parts});
  }
  all[0].more = R"(,"writes":["way"])";
  all[1].more = R"(,"writes":["word"])";
  std::vector<Path> paths;
  for (const auto& [path, end] : set.paths) {
    paths.push_back(path);
  }
  if (set.cpus.empty()) {
    return document(all, chains(paths));
  }
  const std::string way = std::to_string(set.way);
  return document(
      all,
      robot(set.cpus, {}, R"(,"handover":{"least":)" + way + R"(,"most":)" + way + "}") +
          chains(paths),
      Runs::in_processes);
}

// How many latencies are as long as their bound.
template <class Draw>
int compare_tiny_chains(int sets, const Draw& draw) {
  RandomTasks random{first_seed()};
  int complete = 0;
  int bounded = 0;
  int reached = 0;
  for (int number = 0; number < sets && !::testing::Test::HasFailure(); ++number) {
    const TinyChains set = draw(random);
    const std::string json = text(set);
    SCOPED_TRACE(json);
    const auto app = application::parse(json);
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    EveryCall runs{set.tasks, 0, set.way};
    complete += runs.explore(20'000) ? 1 : 0;
    for (std::size_t i = 0; i < set.paths.size(); ++i) {
      const ChainReport& chain = report.chains[i];
      if (!chain.latency) {
        continue;
      }
      const nanoseconds longest{runs.latencies()[set.paths[i].second]};
      ++bounded;
      reached += longest == *chain.latency ? 1 : 0;
      EXPECT_LE(longest, *chain.latency) << chain.name << " by " << chain.bound_by;
    }
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const sim::Result run = sim::simulate(
          app, {.duration = nanoseconds{600},
                .seed = seed,
                .execution = seed == 0 ? sim::ExecutionTimes::worst : sim::ExecutionTimes::drawn});
      for (std::size_t i = 0; i < set.paths.size(); ++i) {
        const ChainReport& chain = report.chains[i];
        EXPECT_LE(run.chains[i].latency.max, chain.latency.value_or(never)) << chain.name;
        EXPECT_LE(run.chains[i].age.max, chain.age.value_or(never)) << chain.name;
        EXPECT_LE(run.chains[i].reaction.max, chain.reaction.value_or(never)) << chain.name;
      }
    }
  }
  std::cout << complete << " of " << sets << " sets complete; " << reached << " of " << bounded
            << " latencies reached\n";
  EXPECT_GT(complete, sets / 2);
  EXPECT_GT(bounded, sets);
  return reached;
}

}  // namespace takt::analysis
