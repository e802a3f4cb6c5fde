// SPDX-License-Identifier: Apache-2.0
//
// Random applications and robots with calls of services: their bounds, and simulations; of tiny
// ones every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "analysis/random_tasks.hpp"
#include "call_documents.hpp"
#include "every_call.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/application/parse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

enum class Waits { sometimes, never };  // besides for responses

std::vector<Part> random_parts(RandomTasks& random, std::int64_t most,
                               const std::vector<std::string>& services,
                               Waits waits = Waits::sometimes) {
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
    if (waits == Waits::sometimes && random.chance(0.2)) {
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
  std::vector<std::string> requested;  // without a wait, too
  std::string depths = R"(,"topics":[{"name":"t0","depth":9},{"name":"t1","depth":9},)"
                       R"({"name":"t2","depth":9})";
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
  const auto add_chain = [&](const std::string& name, const std::string& callbacks) {
    chains += (chains.empty() ? "" : ",") + std::string{R"({"name":")"} + name +
              R"(","callbacks":[)" + callbacks + "]}";
  };
  std::vector<bool> has_reader;
  for (std::int64_t i = random.number(1, 3); i > 0; --i) {
    const std::string number = std::to_string(services.size());
    std::vector<std::string> called;
    if (!services.empty() && random.chance(0.4)) {
      called.push_back(services.back());
    }
    services.push_back("/s" + number);
    if (random.chance(0.3)) {
      services.back() = "s" + number + "/_service/request";
      requested.push_back(services.back());
      depths += R"(,{"name":")" + services.back() + R"(","depth":10})";
    }
    add("server" + number, served(services.back()), random_parts(random, 3, called));
    has_reader.push_back(random.chance(0.3));
    if (has_reader.back()) {
      const std::string topic = "t" + number;
      all.back().more += R"(,"writes":[")" + topic + R"("])";
      add("reader" + number, R"("kind":"message","overrun":"catch_up","trigger":")" + topic + '"',
          random_parts(random, 3, {}));
      add_chain("chain" + number, R"("server)" + number + R"(","reader)" + number + '"');
    }
  }
  for (std::int64_t i = random.number(1, 3); i > 0; --i) {
    std::vector<std::string> called;
    for (std::int64_t calls = random.number(1, 2); calls > 0; --calls) {
      called.push_back(services[static_cast<std::size_t>(
          random.number(0, static_cast<std::int64_t>(services.size()) - 1))]);
    }
    const std::string client = "client" + std::to_string(i);
    const auto last =
        static_cast<std::size_t>(std::ranges::find(services, called.back()) - services.begin());
    const std::string there = R"(",")" + ("server" + std::to_string(last));
    add_chain("to" + client,
              '"' + client + there +
                  (has_reader[last] ? R"(","reader)" + std::to_string(last) : std::string{}) + '"');
    add(client, timer(), random_parts(random, 3, called));
  }
  for (std::int64_t i = random.number(0, 2); i > 0; --i) {
    add("other" + std::to_string(i), timer(), random_parts(random, 5, {}));
    if (!requested.empty()) {
      all.back().more += R"(,"writes":[")" + requested.back() + R"("])";
    }
  }
  shuffle(random, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].priority = 90 - static_cast<int>(random.chance(0.1) ? i / 2 * 2 : i);
  }
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
                  between + depths + "]" + (chains.empty() ? "" : R"(,"chains":[)" + chains + "]") +
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
      if (app.callbacks[i].server && !app.callbacks[i].task.trigger.ends_with("/request")) {
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

// Of the last one, to a service that others call.
void request_without_wait(std::vector<TinyTask>& all, const std::string& service) {
  const std::string requested = service.substr(1) + "/_service/request";
  all.back().requests = requested;
  for (TinyTask& task : all) {
    task.service = task.service == service ? requested : task.service;
    for (Part& part : task.parts) {
      part.call = part.call == service ? requested : part.call;
    }
  }
}

// One or two servers, one or two clients, and a timer that calls nobody, but may request.
std::vector<TinyTask> tiny_set(RandomTasks& random) {
  std::vector<TinyTask> all;
  const bool apart = random.chance(0.4);
  const auto add = [&](std::int64_t period, std::string service,
                       const std::vector<std::string>& called) {
    all.push_back({.cpu = apart ? static_cast<int>(random.number(0, 1)) : 0,
                   .period = period,
                   .service = std::move(service),
                   .parts = random_parts(random, 2, called, Waits::never)});
  };
  const std::int64_t servers = random.number(1, 2);
  add(0, "/s0", {});
  if (servers == 2) {
    add(0, "/s1",
        random.chance(0.5) ? std::vector<std::string>{"/s0"} : std::vector<std::string>{});
  }
  for (std::int64_t i = random.number(1, 2); i > 0; --i) {
    const std::string service = i == 1 ? "/s" + std::to_string(servers - 1) : "/s0";
    add(random.number(9, 16), "", {service});
  }
  if (all.size() < 4) {
    add(random.number(9, 16), "", {});
    if (random.chance(0.5)) {
      request_without_wait(all, "/s" + std::to_string(random.number(0, servers - 1)));
    }
  }
  shuffle(random, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].priority = 90 - static_cast<int>(i);
  }
  return all;
}

std::string text(const std::vector<TinyTask>& tasks) {
  std::vector<Described> all;
  std::string topics;
  for (const TinyTask& one : tasks) {
    topics +=
        one.requests.empty() ? "" : R"(,"topics":[{"name":")" + one.requests + R"(","depth":10}])";
    all.push_back({.name = "t" + std::to_string(all.size()),
                   .released = one.period == 0 ? served(one.service)
                                               : R"("overrun":"catch_up","offset":"unknown",)"
                                                 R"("period":)" +
                                                     std::to_string(one.period),
                   .cpu = one.cpu,
                   .priority = one.priority,
                   .parts = one.parts,
                   .more = one.requests.empty() ? "" : R"(,"writes":[")" + one.requests + R"("])"});
  }
  return document(all, topics);
}

TEST(calls_simulated, no_run_of_a_tiny_application_is_above_a_bound) {
  RandomTasks random{first_seed()};
  int complete = 0;
  int bounded = 0;
  int reached = 0;
  const int sets = rounds(60);
  for (int set = 0; set < sets && !::testing::Test::HasFailure(); ++set) {
    const std::vector<TinyTask> tasks = tiny_set(random);
    const std::string json = text(tasks);
    SCOPED_TRACE(json);
    const ScenarioReport report =
        analyse(application::parse(json), {.sensitivity = false, .proposals = false})
            .scenarios.front();
    EveryCall runs{tasks};
    complete += runs.explore(20'000) ? 1 : 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto found =
          std::ranges::find(report.callbacks, "t" + std::to_string(i), &CallbackReport::name);
      if (found == report.callbacks.end() || !found->response) {
        continue;
      }
      ++bounded;
      reached += nanoseconds{runs.longest()[i]} == *found->response ? 1 : 0;
      EXPECT_LE(nanoseconds{runs.longest()[i]}, *found->response)
          << found->name << " by " << found->bound_by;
    }
  }
  std::cout << complete << " of " << sets << " sets complete; " << reached << " of " << bounded
            << " bounds reached\n";
  EXPECT_GT(complete, sets / 2);
  EXPECT_GT(reached, sets / 2);
}

TEST(calls_simulated, no_response_is_above_its_bound) {
  hold_against_simulations(Runs::on_cores, rounds(400));
}

TEST(calls_simulated, no_response_is_above_its_bound_in_a_robot) {
  hold_against_simulations(Runs::in_processes, rounds(200));
}

}  // namespace
}  // namespace takt::analysis
