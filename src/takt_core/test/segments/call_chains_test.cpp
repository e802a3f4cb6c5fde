// SPDX-License-Identifier: Apache-2.0
//
// Chains that lead through a call: to the server, and back to the callback that waits for it.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tiny_call_chains.hpp"

namespace takt::analysis {
namespace {

const Described client{.name = "client",
                       .priority = 5,
                       .parts = {{2, 2}, {.call = "/s"}, {1, 1}},
                       .more = R"(,"writes":["way"])"};
const Described server{.name = "server",
                       .released = served("/s"),
                       .priority = 9,
                       .parts = {{3, 3}},
                       .more = R"(,"writes":["word"])"};
const Described driver{.name = "driver", .released = released("way"), .cpu = 2, .parts = {{4, 4}}};
const Described listener{
    .name = "listener", .released = released("word"), .cpu = 1, .parts = {{5, 5}}};

application::Application parsed(const std::vector<Described>& callbacks,
                                const std::vector<Path>& paths) {
  return application::parse(document(callbacks, chains(paths)));
}

std::string refusal(const std::vector<Described>& callbacks, const Path& path) {
  try {
    static_cast<void>(parsed(callbacks, {path}));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// 2, 3 in the server, 1, and 4 of who reads it.
TEST(call_chains, lead_through_the_server_and_back) {
  const std::vector<Path> paths = {{"client", "server", "client", "driver"},
                                   {"client", "server", "client"},
                                   {"client", "server"},
                                   {"client", "server", "listener"}};
  const auto app = parsed({client, server, driver, listener}, paths);
  const auto report = analyse(app, {}).scenarios.front();
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{400}});
  const std::vector<std::int64_t> latencies = {10, 6, 5, 10};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    EXPECT_EQ(report.chains[i].callbacks, paths[i]);
    EXPECT_NE(report.chains[i].bound_by.find("eq. 32"), std::string::npos)
        << report.chains[i].bound_by;
    EXPECT_EQ(report.chains[i].latency, nanoseconds{latencies[i]}) << i;
    EXPECT_EQ(report.chains[i].reaction, nanoseconds{100 + latencies[i]}) << i;
    EXPECT_EQ(run.chains[i].latency.max, nanoseconds{latencies[i]}) << i;
    EXPECT_EQ(run.chains[i].reaction.max, nanoseconds{100 + latencies[i]}) << i;
  }
}

// The server of a server, and back through both.
TEST(call_chains, lead_through_servers_that_call) {
  Described between = server;
  between.parts = {{1, 1}, {.call = "/t"}, {1, 1}};
  const Described last{.name = "last", .released = served("/t"), .priority = 7, .parts = {{2, 2}}};
  const Path path = {"client", "server", "last", "server", "client", "driver"};
  const auto app = parsed({client, between, last, driver}, {path, {"client", "server", "last"}});
  const auto report = analyse(app, {}).scenarios.front();
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{400}});
  EXPECT_EQ(run.chains[0].latency.max, nanoseconds{2 + 4 + 1 + 4});
  EXPECT_EQ(run.chains[1].latency.max, nanoseconds{2 + 1 + 2});
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(report.chains[i].latency);
    EXPECT_GE(*report.chains[i].latency, run.chains[i].latency.max);
  }
}

TEST(call_chains, that_no_data_takes_are_refused) {
  const auto expect = [](const std::vector<Described>& callbacks, const Path& path,
                         const std::string& words) {
    const std::string said = refusal(callbacks, path);
    EXPECT_NE(said.find(words), std::string::npos) << words << " in " << said;
  };
  const Described other{.name = "other", .parts = {{1, 1}}};
  expect({client, server, driver, other}, {"server", "client", "driver"},
         "chain 'cdriver': it comes to 'client' with a response of 'server', which 'client' has "
         "not called in this chain");
  Described both = client;
  both.parts = {{1, 1}, {.call = "/s"}, {1, 1}, {.call = "/t"}, {1, 1}};
  const Described second{.name = "second", .released = served("/t"), .parts = {{1, 1}}};
  EXPECT_EQ(refusal({both, server, second}, {"client", "server", "client", "second", "client"}),
            "");
  expect({both, server, second}, {"client", "second", "client", "server", "client"},
         "name the servers in the order of its segments");
  Described early = client;
  early.more += R"(,"publishes":"anywhere")";
  expect({early, server, driver}, {"client", "server", "client", "driver"},
         "may publish before it has the response");
  EXPECT_EQ(refusal({early, server, driver}, {"client", "server", "client"}), "");
}

// A chain that had this meaning before calls were followed keeps it.
TEST(call_chains, go_by_messages_that_the_server_reads) {
  Described reader = server;
  reader.more = R"(,"reads":[{"topic":"way"}])";
  const auto report = analyse(parsed({client, reader}, {{"client", "server"}}), {});
  const ChainReport& chain = report.scenarios.front().chains.front();
  EXPECT_EQ(chain.bound_by.find("eq. 32"), std::string::npos) << chain.bound_by;
}

TEST(call_chains, across_processes_come_back) {
  Described there = server;
  there.cpu = 1;
  const Described next{.name = "next", .released = released("word"), .cpu = 1, .parts = {{1, 1}}};
  const auto in_robot = [&](const Path& path) {
    return document({client, there, driver, next},
                    robot({0, 1, 2}, {}, R"(,"handover":{"least":1,"most":3})") + chains({path}),
                    Runs::in_processes);
  };
  const Path path = {"client", "server", "client", "driver"};
  const auto app = application::parse(in_robot(path));
  const auto report = analyse(app, {}).scenarios.front();
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{400}});
  EXPECT_EQ(report.chains[0].latency, nanoseconds{12 + 3 + 4});
  EXPECT_EQ(run.chains[0].latency.max, nanoseconds{12 + 3 + 4});
}

TinyChains tiny_chains(RandomTasks& random) {
  const bool apart = random.chance(0.5);
  const auto cpu = [&] { return apart ? static_cast<int>(random.number(0, 1)) : 0; };
  const auto part = [&] { return short_part(random); };
  TinyChains set;
  const Part call{.call = "/s0"};
  set.tasks.push_back(
      {.cpu = cpu(), .period = random.number(10, 15), .parts = {part(), call, part()}});
  set.tasks.push_back({.cpu = cpu(), .service = "/s0", .parts = {part()}});
  set.paths.push_back({{"t0", "t1", "t0"}, 0});
  set.paths.push_back({{"t0", "t1"}, 1});
  const auto add_reader = [&](int after, Path path) {
    set.tasks.push_back({.cpu = cpu(), .parts = {part()}, .after = after});
    path.push_back("t" + std::to_string(set.tasks.size() - 1));
    set.paths.emplace_back(std::move(path), set.tasks.size() - 1);
  };
  if (random.chance(0.7)) {
    add_reader(0, {"t0", "t1", "t0"});
  }
  if (random.chance(0.5)) {
    add_reader(1, {"t0", "t1"});
  }
  if (set.tasks.size() < 4 && random.chance(0.6)) {  // another client, or a timer alone
    set.tasks.push_back({.cpu = cpu(), .period = random.number(10, 15), .parts = {part()}});
    if (random.chance(0.6)) {
      set.tasks.back().parts = {part(), call, part()};
    }
  }
  draw_priorities(random, set);
  return set;
}

TEST(call_chains, of_no_run_of_a_tiny_application_are_above_a_bound) {
  const int sets = rounds(60);
  EXPECT_GT(compare_tiny_chains(sets, tiny_chains), sets / 4);
}

}  // namespace
}  // namespace takt::analysis
