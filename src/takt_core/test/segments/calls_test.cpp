// SPDX-License-Identifier: Apache-2.0
//
// Jobs that call services and wait for the responses: what is refused, the simulation, and bounds.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "analysis/random_tasks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/application/parse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

// A part of a job: so long at least and at most, or a call if a service is named.
struct Part {
  std::int64_t shortest = 0;
  std::int64_t longest = 0;
  std::string call = {};
};

// What releases it, its core, priority and parts.
struct Described {
  std::string name;
  std::string released = R"("period":100)";
  int cpu = 0;
  int priority = 1;
  std::vector<Part> parts = {};
  std::string more = {};
};

std::string served(const std::string& service) {
  return R"("kind":"service","trigger":")" + service + '"';
}

// Where it runs: on a core, or in a robot in the process of that number.
enum class Runs { on_cores, in_processes };

std::string text(const Described& one, Runs runs) {
  Part computes;
  std::int64_t waits = 0;
  std::string segments;
  for (std::size_t i = 0; i < one.parts.size(); ++i) {
    const Part& part = one.parts[i];
    computes.shortest += i % 2 == 0 ? part.shortest : 0;
    computes.longest += i % 2 == 0 ? part.longest : 0;
    waits += i % 2 == 0 ? 0 : part.longest;
    segments += segments.empty() ? "" : ",";
    segments += part.call.empty() ? R"({"shortest":)" + std::to_string(part.shortest) +
                                        R"(,"longest":)" + std::to_string(part.longest) + "}"
                                  : R"({"call":")" + part.call + R"("})";
  }
  const std::string best = std::to_string(computes.shortest);
  const std::string worst = std::to_string(computes.longest);
  const std::string how = one.parts.size() == 1
                              ? ""
                              : R"(,"suspension":)" + std::to_string(waits) + R"(,"suspensions":)" +
                                    std::to_string(one.parts.size() / 2) + R"(,"segments":[)" +
                                    segments + "]";
  const std::string place = std::to_string(one.cpu);
  return R"({"name":")" + one.name + R"(",)" + one.released +
         (runs == Runs::on_cores ? R"(,"cpu":)" + place : R"(,"process":"p)" + place + '"') +
         R"(,"priority":)" + std::to_string(one.priority) + R"(,"execution":{"best":)" + best +
         R"(,"worst":)" + worst + R"(,"quantiles":[)" + best + "," + worst + "]}" + how + one.more +
         "}";
}

std::string document(const std::vector<Described>& callbacks, const std::string& more = "",
                     Runs runs = Runs::on_cores) {
  std::string all;
  for (const Described& one : callbacks) {
    all += (all.empty() ? "" : ",") + text(one, runs);
  }
  return R"({"version":1,"name":"s",)" +
         std::string{runs == Runs::on_cores ? R"("policy":"fp","cpus":[0,1,2],)" : ""} +
         R"("callbacks":[)" + all + "]" + more + "}";
}

// Of the processes p0 to p2, on one host or two, with what lies between them.
std::string robot(const std::vector<int>& cpus, const std::vector<std::string>& hosts,
                  const std::string& between) {
  std::string processes;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    processes += (i == 0 ? "" : ",") + std::string{R"({"name":"p)"} + std::to_string(i) +
                 R"(","policy":"fp","cpu":)" + std::to_string(cpus[i]) + R"(,"priority":)" +
                 std::to_string(80 - 20 * i) +
                 (hosts.empty() ? "" : R"(,"host":")" + hosts[i] + '"') + "}";
  }
  return R"(,"processes":[)" + processes + "]" + between;
}

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

std::vector<Part> random_parts(RandomTasks& random, std::int64_t most,
                               const std::vector<std::string>& services) {
  std::vector<Part> parts;
  const auto computes = [&] {
    const std::int64_t longest = random.number(1, most);
    parts.push_back(
        {.shortest = random.chance(0.6) ? longest : random.number(1, longest), .longest = longest});
  };
  computes();
  for (const std::string& service : services) {
    parts.push_back({.call = service});
    computes();
    if (random.chance(0.2)) {
      const std::int64_t longest = random.number(1, most);
      parts.push_back({.shortest = random.number(0, longest), .longest = longest});
      computes();
    }
  }
  return parts;
}

// One to three servers of which some call others, one to three clients, and others beside them.
std::string random_document(RandomTasks& random, Runs runs) {
  std::vector<Described> all;
  std::vector<int> priorities;
  const int cores = static_cast<int>(random.number(1, 3));
  const bool groups = random.chance(0.2);
  std::vector<std::string> services;
  const auto add = [&](std::string name, const std::string& released, std::vector<Part> parts) {
    all.push_back({.name = std::move(name),
                   .released = released,
                   .cpu = static_cast<int>(random.number(0, cores - 1)),
                   .parts = std::move(parts)});
    if (random.chance(0.15)) {
      all.back().more += R"(,"jitter":2)";
    }
    const bool waits = all.back().parts.size() > 1;
    if (groups && !waits && all.back().cpu == 0 && random.chance(0.5)) {
      all.back().more += R"(,"group":"g")";
    }
  };
  const auto timer = [&] {
    const std::int64_t period = random.number(15, 30) << random.number(0, 3);
    return R"("overrun":"catch_up","period":)" + std::to_string(period) + R"(,"offset":)" +
           std::to_string(random.number(0, period));
  };
  std::string chains;
  for (std::int64_t i = random.number(1, 3); i > 0; --i) {
    const std::string number = std::to_string(services.size());
    std::vector<std::string> called;
    if (!services.empty() && random.chance(0.4)) {
      called.push_back(services.back());
    }
    services.push_back("/s" + number);
    add("server" + number, served(services.back()), random_parts(random, 3, called));
    if (random.chance(0.3)) {
      const std::string topic = "t" + number;
      all.back().more += R"(,"writes":[")" + topic + R"("])";
      add("reader" + number, R"("kind":"message","overrun":"catch_up","trigger":")" + topic + '"',
          random_parts(random, 3, {}));
      chains += (chains.empty() ? "" : ",") + std::string{R"({"name":"chain)"} + number +
                R"(","callbacks":["server)" + number + R"(","reader)" + number + R"("]})";
    }
  }
  for (std::int64_t i = random.number(1, 3); i > 0; --i) {
    std::vector<std::string> called;
    for (std::int64_t calls = random.number(1, 2); calls > 0; --calls) {
      called.push_back(services[static_cast<std::size_t>(
          random.number(0, static_cast<std::int64_t>(services.size()) - 1))]);
    }
    add("client" + std::to_string(i), timer(), random_parts(random, 3, called));
  }
  for (std::int64_t i = random.number(0, 2); i > 0; --i) {
    add("other" + std::to_string(i), timer(), random_parts(random, 5, {}));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::swap(all[i],
              all[static_cast<std::size_t>(random.number(0, static_cast<std::int64_t>(i)))]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].priority = 90 - static_cast<int>(random.chance(0.1) ? i / 2 * 2 : i);
  }
  const std::string depths = R"(,"topics":[{"name":"t0","depth":9},{"name":"t1","depth":9},)"
                             R"({"name":"t2","depth":9}])";
  std::string between;
  if (runs == Runs::in_processes) {
    std::vector<int> cpus;
    std::vector<std::string> hosts;
    const bool apart = random.chance(0.4);
    for (int i = 0; i < cores; ++i) {
      cpus.push_back(static_cast<int>(random.number(0, 1)));
      if (apart) {
        hosts.emplace_back(i == 0 || random.chance(0.5) ? "a" : "b");
      }
    }
    between = robot(cpus, hosts, R"(,"handover":{"least":0,"most":2})");
    if (std::ranges::count(hosts, "b") > 0) {
      between += R"(,"links":[{"hosts":["a","b"],"least":1,"most":4}])";
    }
  }
  return document(all,
                  between + (chains.empty() ? "" : depths + R"(,"chains":[)" + chains + "]") +
                      (random.chance(0.3) ? R"(,"overheads":{"dispatch":1,"preemption":1,)"
                                            R"("release":1,"publish":1,"deliver":1})"
                                          : ""),
                  runs);
}

struct Tally {
  int bounded = 0;
  int clients = 0;
  int reached = 0;
  int chains = 0;
};

void compare(const application::Application& app, Tally& tally) {
  const ScenarioReport report =
      analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto execution = seed == 0 ? sim::ExecutionTimes::worst : sim::ExecutionTimes::drawn;
    const sim::Result run = sim::simulate(app, {.duration = nanoseconds{3000},
                                                .seed = seed,
                                                .execution = execution,
                                                .percentiles = false});
    for (std::size_t i = 0; i < app.callbacks.size(); ++i) {
      const auto found =
          std::ranges::find(report.callbacks, app.callbacks[i].task.name, &CallbackReport::name);
      if (found == report.callbacks.end()) {  // a server leads to it that nobody calls
        EXPECT_EQ(run.callbacks[i].releases, 0U);
        continue;
      }
      const CallbackReport& one = *found;
      if (app.callbacks[i].server) {
        EXPECT_EQ(run.callbacks[i].skipped + run.callbacks[i].lost_arrivals, 0U);
        EXPECT_EQ(run.callbacks[i].overwritten, 0U);
      }
      if (one.response) {
        ++tally.bounded;
        tally.clients += app.callbacks[i].calls() ? 1 : 0;
        tally.reached += run.callbacks[i].response.max == *one.response ? 1 : 0;
        EXPECT_LE(run.callbacks[i].response.max, *one.response)
            << app.callbacks[i].task.name << " by " << one.bound_by;
      }
    }
    for (std::size_t i = 0; i < app.chains.size(); ++i) {
      const ChainReport& bound = report.chains[i];
      tally.chains += bound.latency ? 1 : 0;
      EXPECT_LE(run.chains[i].latency.max, bound.latency.value_or(never)) << bound.bound_by;
      EXPECT_LE(run.chains[i].reaction.max, bound.reaction.value_or(never)) << bound.bound_by;
      EXPECT_LE(run.chains[i].age.max, bound.age.value_or(never)) << bound.bound_by;
    }
  }
}

void hold_against_simulations(Runs runs, int sets) {
  RandomTasks random{first_seed()};
  Tally tally;
  for (int set = 0; set < sets && !::testing::Test::HasFailure(); ++set) {
    const std::string json = random_document(random, runs);
    SCOPED_TRACE(json);
    compare(application::parse(json), tally);
  }
  std::cout << tally.bounded << " responses, " << tally.clients << " of clients, " << tally.reached
            << " as long as their bounds, " << tally.chains << " latencies of chains\n";
  EXPECT_GT(tally.clients, sets);
  EXPECT_GT(tally.reached, sets);
  EXPECT_GT(tally.chains, 0);
}

TEST(calls, no_response_is_above_its_bound) {
  hold_against_simulations(Runs::on_cores, rounds(400));
}

TEST(calls, no_response_is_above_its_bound_in_a_robot) {
  hold_against_simulations(Runs::in_processes, rounds(200));
}

}  // namespace
}  // namespace takt::analysis
