// SPDX-License-Identifier: Apache-2.0
//
// Jobs that call services and wait for the responses: what is refused, and cases by hand.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "call_documents.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/application/parse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

std::string refusal(const std::string& json) {
  try {
    static_cast<void>(application::parse(json));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const Described client{.name = "client", .priority = 2, .parts = {{2, 2}, {.call = "/s"}, {1, 1}}};
const Described server{.name = "server", .released = served("/s"), .parts = {{3, 3}}};

std::vector<nanoseconds> longest_responses(const std::vector<Described>& callbacks) {
  const auto app = application::parse(document(callbacks));
  std::vector<nanoseconds> result;
  for (const auto& one : sim::simulate(app, {.duration = nanoseconds{400}}).callbacks) {
    result.push_back(one.response.max);
  }
  return result;
}

std::vector<std::optional<nanoseconds>> bounds(const std::vector<Described>& callbacks) {
  const auto report = analyse(application::parse(document(callbacks)), {}).scenarios.front();
  std::vector<std::optional<nanoseconds>> result;
  for (const CallbackReport& one : report.callbacks) {
    result.push_back(one.response);
  }
  return result;
}

TEST(calls, what_is_never_answered_is_refused) {
  const auto expect = [](const std::vector<Described>& callbacks, const std::string& words) {
    const std::string said = refusal(document(callbacks));
    EXPECT_NE(said.find(words), std::string::npos) << words << " in " << said;
  };
  EXPECT_EQ(refusal(document({client, server})), "");
  expect({client}, "task 'client': it calls service '/s', which has no server");
  Described other = server;
  other.released = served("/t");
  expect({client, other}, "did you mean '/t'?");
  other = server;
  other.name = "other";
  expect({client, server, other}, "task 'other': it is the second server of service '/s'");
  other = server;
  other.parts = {{1, 1}, {.call = "/s"}, {1, 1}};
  expect({client, other}, "'server' waits for 'server'");
  other.parts[1].call = "/t";
  Described last{.name = "last", .released = served("/t"), .parts = other.parts};
  last.parts[1].call = "/s";
  expect({client, other, last}, "(deadlock): 'server' waits for 'last' waits for 'server'");
  Described grouped = client;
  grouped.more = other.more = last.more = R"(,"group":"g")";
  other.parts = server.parts;
  expect({grouped, other}, "is in its own group 'g'");
  other.more = R"(,"overrun":"skip")";
  expect({client, other}, "it would drop requests of service '/s'");
  other.more = R"(,"active":false)";
  expect({client, other}, "it is not active");
  other.more = R"(,"at_once":2)";
  other.cpu = -1;
  expect({client, other}, "several of its jobs may run at once");
  Described writer{.name = "w", .parts = {{1, 1}}, .more = R"(,"writes":["/s"])"};
  expect({client, server, writer}, "'/s' is its service, and a topic");
  std::string stock = document({client, server});
  const std::string cores = R"("policy":"fp","cpus":[0,1,2])";
  stock.replace(stock.find(cores), cores.size(),
                R"("executor":"rclcpp_single_threaded","cpus":[0])");
  EXPECT_NE(refusal(stock).find("runs in the same thread"), std::string::npos) << refusal(stock);
  EXPECT_NE(refusal(document({client, server}, R"(,"scenarios":[{"name":"s"}])"))
                .find("not analysed together with scenarios"),
            std::string::npos);
}

// The server computes while the client waits, and the client goes on when it ends: 2 + 3 + 1.
TEST(calls, a_client_waits_until_its_server_ends) {
  using Times = std::vector<nanoseconds>;
  EXPECT_EQ(longest_responses({client, server}), (Times{nanoseconds{6}, nanoseconds{3}}));
  Described elsewhere = server;
  elsewhere.cpu = 1;
  EXPECT_EQ(longest_responses({client, elsewhere}), (Times{nanoseconds{6}, nanoseconds{3}}));
  // From 0 to 4 something else has the server's core.
  const Described before{.name = "before", .cpu = 1, .priority = 9, .parts = {{4, 4}}};
  EXPECT_EQ(longest_responses({client, elsewhere, before}),
            (Times{nanoseconds{8}, nanoseconds{5}, nanoseconds{4}}));
  // Two requests at the same time are answered one after the other.
  Described second = client;
  second.name = "second";
  second.cpu = 2;
  EXPECT_EQ(longest_responses({client, elsewhere, second}),
            (Times{nanoseconds{6}, nanoseconds{6}, nanoseconds{9}}));
  // A server may be a client: 2 + (1 + 3 + 1) + 1.
  Described between{.name = "between",
                    .released = served("/s"),
                    .cpu = 2,
                    .parts = {{1, 1}, {.call = "/t"}, {1, 1}}};
  elsewhere.released = served("/t");
  EXPECT_EQ(longest_responses({client, between, elsewhere}),
            (Times{nanoseconds{8}, nanoseconds{5}, nanoseconds{3}}));
}

TEST(calls, bounds_follow_from_each_other) {
  using Bounds = std::vector<std::optional<nanoseconds>>;
  // The client is above the server, and counts although it waits: 2 in 5.
  EXPECT_EQ(bounds({client, server}), (Bounds{nanoseconds{8}, nanoseconds{5}}));
  Described first = server;  // above its client, which it does not delay but by what it waits
  first.priority = 9;
  EXPECT_EQ(bounds({client, first}), (Bounds{nanoseconds{6}, nanoseconds{3}}));
  Described elsewhere = server;
  elsewhere.cpu = 1;
  const Described before{.name = "before", .cpu = 1, .priority = 9, .parts = {{4, 4}}};
  EXPECT_EQ(bounds({client, elsewhere, before}),
            (Bounds{nanoseconds{10}, nanoseconds{7}, nanoseconds{4}}));
}

// Requests come as close as a late job of the client and the next one in time: at 15 and 21.
TEST(calls, requests_come_with_the_jitter_of_their_client) {
  const Described first{.name = "first", .priority = 9, .parts = {{14, 14}}};
  Described often = client;
  often.released = R"("period":20)";
  often.parts[0] = {1, 1};
  Described elsewhere = server;
  elsewhere.cpu = 1;
  elsewhere.priority = 5;
  const Described below{
      .name = "below", .released = R"("period":100,"offset":15)", .cpu = 1, .parts = {{4, 4}}};
  EXPECT_EQ(longest_responses({first, often, elsewhere, below}).back(), nanoseconds{10});
  EXPECT_EQ(bounds({first, often, elsewhere, below}).back(), nanoseconds{10});
}

// A server that cannot keep up has no bound, and neither have its clients and who comes after them.
TEST(calls, without_a_bound_of_the_server_the_client_has_none) {
  Described busy{.name = "busy", .cpu = 1, .priority = 9, .parts = {{99, 99}}};
  Described elsewhere = server;
  elsewhere.cpu = 1;
  const Described below{.name = "below", .parts = {{1, 1}}};
  const auto found = bounds({client, elsewhere, busy, below});
  EXPECT_FALSE(found[0]);
  EXPECT_FALSE(found[1]);
  EXPECT_EQ(found[2], nanoseconds{99});
  EXPECT_FALSE(found[3]);
}

// 2 in the client's process, 3 on the way there, 3 in the server's, 3 on the way back, and 1.
TEST(calls, of_another_process_contain_both_ways) {
  Described elsewhere = server;
  elsewhere.cpu = 1;
  const std::string handover = R"(,"handover":{"least":1,"most":3})";
  const std::string link = R"(,"links":[{"hosts":["a","b"],"least":1,"most":3)";
  for (const std::string& between : {robot({0, 1}, {}, handover), robot({0, 0}, {}, handover),
                                     robot({0, 0}, {"a", "b"}, link + "}]")}) {
    const auto app = application::parse(document({client, elsewhere}, between, Runs::in_processes));
    const auto report = analyse(app, {}).scenarios.front();
    const sim::Result run = sim::simulate(app, {.duration = nanoseconds{400}});
    EXPECT_EQ(run.callbacks[0].response.max, nanoseconds{12});
    EXPECT_EQ(run.callbacks[1].response.max, nanoseconds{6});
    // Its own client is above it in a process above.
    const nanoseconds above{between.find(R"("cpu":0,"priority":60)") != std::string::npos &&
                                    between.find("host") == std::string::npos
                                ? 3
                                : 0};
    EXPECT_EQ(report.callbacks[1].response, nanoseconds{6} + above) << between;
    EXPECT_EQ(report.callbacks[0].response, nanoseconds{12} + above) << between;
    EXPECT_TRUE(report.callbacks[0].bound_by.ends_with("eq. 32")) << report.callbacks[0].bound_by;
  }
  const auto expect = [&](const std::string& between, const std::string& words) {
    const std::string said = refusal(document({client, elsewhere}, between, Runs::in_processes));
    EXPECT_NE(said.find(words), std::string::npos) << words << " in " << said;
  };
  expect(robot({0, 0}, {"a", "b"}, link + R"(,"loss":1}])"), "waits for a lost one");
  expect(robot({0, 0}, {"a", "b"}, ""), "which 'client' calls on host 'a'");
  std::string stock = robot({0, 1}, {}, "");
  stock.replace(stock.find(R"("policy":"fp")"), 13, R"("executor":"rclcpp_events")");
  expect(stock, "does nothing else meanwhile, which is not analysed yet");
}

// What waits in a process above comes late: from 13 to 16, and from 20 on once more.
TEST(calls, a_process_below_is_delayed_by_what_waited_above) {
  Described often = client;
  often.released = R"("period":20)";
  often.parts = {{1, 1}, {.call = "/s"}, {3, 3}};
  Described elsewhere = server;
  elsewhere.cpu = 1;
  const Described before{.name = "before", .cpu = 1, .priority = 9, .parts = {{10, 10}}};
  const Described below{
      .name = "below", .released = R"("period":100,"offset":13)", .cpu = 2, .parts = {{8, 8}}};
  const auto app = application::parse(
      document({often, elsewhere, before, below}, robot({0, 1, 0}, {}, ""), Runs::in_processes));
  EXPECT_EQ(sim::simulate(app, {.duration = nanoseconds{100}}).callbacks.back().response.max,
            nanoseconds{15});
  EXPECT_EQ(analyse(app, {}).scenarios.front().callbacks.back().response, nanoseconds{16});
}

}  // namespace
}  // namespace takt::analysis
