// SPDX-License-Identifier: Apache-2.0
//
// Chains of robots that leave a process by a call: to the server, on from there, and not back.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tiny_call_chains.hpp"

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

TinyChains tiny_robot(RandomTasks& random) {
  TinyChains set;
  for (int process = 0; process < 3; ++process) {
    set.cpus.push_back(static_cast<int>(random.number(0, 1)));
  }
  set.way = random.chance(0.4) ? random.number(1, 2) : 0;
  const auto add = [&](TinyTask task) {
    task.process = static_cast<int>(random.number(0, 2));
    task.cpu = set.cpus[static_cast<std::size_t>(task.process)];
    set.tasks.push_back(std::move(task));
  };
  const auto part = [&] { return short_part(random); };
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
  draw_priorities(random, set);
  return set;
}

TEST(call_chains_robots, of_no_run_of_a_tiny_robot_are_above_a_bound) {
  EXPECT_GT(compare_tiny_chains(rounds(60), tiny_robot), 0);
}

}  // namespace
}  // namespace takt::analysis
