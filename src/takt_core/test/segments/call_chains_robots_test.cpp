// SPDX-License-Identifier: Apache-2.0
//
// Chains of robots that leave a process by a call: to the server, on from there, and not back.
#include <gtest/gtest.h>

#include <algorithm>
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
namespace {

application::Application across(const std::vector<Described>& callbacks,
                                const std::vector<Path>& paths, const std::string& between) {
  return application::parse(
      document(callbacks, robot({0, 1, 2}, {}, between) + chains(paths), Runs::in_processes));
}

// 2 and 3 until the request is there, 3 in the server, 2 and 1 more to its end; then 3 and 5.
TEST(call_chains_robots, leave_through_the_server) {
  const Described client{.name = "client",
                         .priority = 5,
                         .parts = {{2, 2}, {.call = "/s"}, {1, 1}},
                         .more = R"(,"writes":["way"])"};
  const Described server{.name = "server",
                         .released = served("/s"),
                         .cpu = 1,
                         .priority = 9,
                         .parts = {{3, 3}},
                         .more = R"(,"writes":["word"])"};
  const Described here{.name = "here", .released = released("word"), .cpu = 1, .parts = {{4, 4}}};
  const Described there{.name = "there", .released = released("word"), .cpu = 2, .parts = {{5, 5}}};
  const std::vector<Path> paths = {
      {"client", "server"}, {"client", "server", "here"}, {"client", "server", "there"}};
  const auto app =
      across({client, server, here, there}, paths, R"(,"handover":{"least":3,"most":3})");
  const auto report = analyse(app, {}).scenarios.front();
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{400}});
  const std::vector<std::int64_t> latencies = {8, 12, 16};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(report.chains[i].callbacks, paths[i]);
    EXPECT_EQ(report.chains[i].latency, nanoseconds{latencies[i]}) << report.chains[i].bound_by;
    EXPECT_EQ(report.chains[i].reaction, nanoseconds{100 + latencies[i]}) << i;
    EXPECT_EQ(run.chains[i].latency.max, nanoseconds{latencies[i]}) << i;
    EXPECT_EQ(run.chains[i].reaction.max, nanoseconds{100 + latencies[i]}) << i;
    nanoseconds sum{0};
    for (const LatencyTerm& term : report.chains[i].terms) {
      sum += term.time;
    }
    EXPECT_EQ(sum, nanoseconds{latencies[i]});
  }
  EXPECT_EQ(report.chains[1].bound_by, "p0 2 ns + handover 3 ns + p1 7 ns");
}

struct Tiny {
  std::vector<TinyTask> tasks;                           // the client first, then its server
  std::vector<std::pair<Path, std::size_t>> paths = {};  // and which task ends them
  std::vector<int> cpus = {};                            // by process
  std::int64_t way = 0;
};

Tiny tiny(RandomTasks& random) {
  Tiny set;
  for (int process = 0; process < 3; ++process) {
    set.cpus.push_back(static_cast<int>(random.number(0, 1)));
  }
  set.way = random.chance(0.4) ? random.number(1, 2) : 0;
  const auto add = [&](TinyTask task) {
    task.process = static_cast<int>(random.number(0, 2));
    task.cpu = set.cpus[static_cast<std::size_t>(task.process)];
    set.tasks.push_back(std::move(task));
  };
  const auto part = [&] {
    const std::int64_t longest = random.number(1, 2);
    return Part{.shortest = random.chance(0.5) ? longest : 1, .longest = longest};
  };
  const Part call{.call = "/s0"};
  add({.period = random.number(12, 18), .parts = {part(), call, part()}});
  add({.service = "/s0", .parts = {part()}});
  while (set.tasks[1].process == set.tasks[0].process) {
    set.tasks[1].process = static_cast<int>(random.number(0, 2));
    set.tasks[1].cpu = set.cpus[static_cast<std::size_t>(set.tasks[1].process)];
  }
  set.paths.push_back({{"t0", "t1"}, 1});
  const auto add_reader = [&](int after, Path path) {
    add({.parts = {part()}, .after = after});
    path.push_back("t" + std::to_string(set.tasks.size() - 1));
    set.paths.emplace_back(std::move(path), set.tasks.size() - 1);
  };
  add_reader(1, {"t0", "t1"});
  if (random.chance(0.3)) {
    add_reader(0, {"t0", "t1", "t0"});
  }
  if (set.tasks.size() < 4 && random.chance(0.6)) {  // another client, or a timer by itself
    const bool calls = random.chance(0.5);
    add({.period = random.number(12, 18),
         .parts = calls ? std::vector<Part>{part(), call, part()} : std::vector<Part>{part()}});
  }
  std::vector<int> priorities;
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    priorities.insert(priorities.begin() + random.number(0, static_cast<std::int64_t>(i)),
                      90 - static_cast<int>(i));
  }
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    // A process is above those with higher numbers.
    set.tasks[i].priority = priorities[i] + 100 * (3 - set.tasks[i].process);
  }
  return set;
}

std::string text(const Tiny& set) {
  std::vector<Described> all;
  for (const TinyTask& one : set.tasks) {
    const std::string how =
        one.after >= 0 ? released(one.after == 0 ? "way" : "word")
        : one.period == 0
            ? served(one.service)
            : R"("overrun":"catch_up","offset":"unknown","period":)" + std::to_string(one.period);
    all.push_back({.name = "t" + std::to_string(all.size()),
                   .released = how,
                   .cpu = one.process,
                   .priority = one.priority % 100,
                   .parts = one.parts});
  }
  all[0].more = R"(,"writes":["way"])";
  all[1].more = R"(,"writes":["word"])";
  std::vector<Path> paths;
  for (const auto& [path, end] : set.paths) {
    paths.push_back(path);
  }
  const std::string way = std::to_string(set.way);
  return document(
      all,
      robot(set.cpus, {}, R"(,"handover":{"least":)" + way + R"(,"most":)" + way + "}") +
          chains(paths),
      Runs::in_processes);
}

TEST(call_chains_robots, of_no_run_of_a_tiny_robot_are_above_a_bound) {
  RandomTasks random{first_seed()};
  int complete = 0;
  int bounded = 0;
  int reached = 0;
  const int sets = rounds(60);
  for (int number = 0; number < sets && !::testing::Test::HasFailure(); ++number) {
    const Tiny set = tiny(random);
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
  EXPECT_GT(reached, 0);
}

}  // namespace
}  // namespace takt::analysis
