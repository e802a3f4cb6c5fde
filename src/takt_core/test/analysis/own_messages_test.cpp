// SPDX-License-Identifier: Apache-2.0
// What the messages of a job release before that job has ended.
#include <gtest/gtest.h>

#include "analysis/documents.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

// Writes x, which releases 'b'.
std::string pair(const std::string& policy, int priority, const std::string& publishes = "end") {
  return app(
      timer("a", 100, 10, 2,
            ", 'deadline': 100, 'writes': ['x'], 'publishes': '" + publishes + "'") +
          "," +
          message("b", "x", 5, priority, priority > 2 ? ", 'deadline': 50" : ", 'deadline': 200"),
      ", 'policy': '" + policy + "', 'chains': [{'name': 'c', 'callbacks': ['a', 'b']}]");
}

struct Found {
  std::int64_t writer = 0;
  std::int64_t reader = 0;
  std::int64_t latency = 0;

  friend bool operator==(const Found&, const Found&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Found& one) {
    return out << one.writer << ", " << one.reader << ", " << one.latency;
  }
};

Found bounds_of(const std::string& json) {
  const Report report = analyse_json(json);
  const ScenarioReport& scenario = report.scenarios.front();
  return {.writer = callback(scenario, "a").response.value().count(),
          .reader = callback(scenario, "b").response.value().count(),
          .latency = scenario.chains.front().latency.value().count()};
}

Found simulated(const std::string& json) {
  const sim::Result run = sim::simulate(parsed(json), {.duration = nanoseconds{1'000}});
  return {.writer = run.callbacks[0].response.max.count(),
          .reader = run.callbacks[1].response.max.count(),
          .latency = run.chains[0].latency.max.count()};
}

void expect(const std::string& json, const Found& bound, const Found& run) {
  EXPECT_EQ(bounds_of(json), bound) << json;
  EXPECT_EQ(simulated(json), run) << json;
}

TEST(own_messages, preempt_the_job_that_has_not_ended) {
  const Found both{.writer = 15, .reader = 5, .latency = 15};
  expect(pair("fp", 3), both, both);
  expect(pair("edf", 3), both, both);
}

TEST(own_messages, wait_for_the_end_where_they_are_less_urgent) {
  const Found both{.writer = 10, .reader = 5, .latency = 15};
  expect(pair("fp", 1), both, both);
  expect(pair("edf", 1), both, both);
}

TEST(own_messages, wait_for_the_end_without_preemption) {
  const Found both{.writer = 10, .reader = 5, .latency = 15};
  expect(pair("np-fp", 3), both, both);
  expect(pair("np-edf", 3), both, both);
}

// Released a moment after the start of the job, it waits for all the rest of it. (Where it is less
// urgent, the bound does not know of that moment.)
TEST(own_messages, that_come_at_any_time_wait_for_the_rest_of_the_job) {
  const Found bound{.writer = 10, .reader = 15, .latency = 15};
  const Found run{.writer = 10, .reader = 14, .latency = 15};
  expect(pair("np-fp", 3, "anywhere"), run, run);
  expect(pair("np-edf", 3, "anywhere"), run, run);
  expect(pair("fp", 1, "anywhere"), bound, run);
  expect(pair("edf", 1, "anywhere"), bound, run);
}

TEST(own_messages, that_come_at_any_time_preempt_the_job) {
  const Found run{.writer = 15, .reader = 5, .latency = 6};
  EXPECT_EQ(simulated(pair("fp", 3, "anywhere")), run);
  EXPECT_EQ(bounds_of(pair("fp", 3, "anywhere")).writer, 15);
  EXPECT_EQ(bounds_of(pair("fp", 3, "anywhere")).latency, 15);
}

// They go to another core and come back.
std::string detour(int priority) {
  return app(timer("a", 100, 10, 2, ", 'cpu': 0, 'writes': ['x'], 'publishes': 'anywhere'") + "," +
                 message("b", "x", 2, 1, ", 'cpu': 1, 'writes': ['y']") + "," +
                 message("c", "y", 5, priority, ", 'cpu': 0"),
             ", 'cpus': [0, 1], 'chains': [{'name': 'c', 'callbacks': ['a', 'b']}]");
}

TEST(own_messages, come_back_from_another_core) {
  EXPECT_EQ(bounds_of(detour(3)).writer, 15);
  EXPECT_EQ(simulated(detour(3)).writer, 15);
  EXPECT_EQ(bounds_of(detour(1)).writer, 10);
}

// Each message of a job may preempt it.
TEST(own_messages, count_each) {
  std::string json = pair("fp", 3);
  const std::string writes = "'writes': ['x']";
  json.replace(json.find(writes), writes.size(), writes + ", 'messages': {'x': 3}");
  json.insert(json.size() - 1, ", 'topics': [{'name': 'x', 'depth': 3}]");
  EXPECT_EQ(bounds_of(json).writer, 25);
  EXPECT_EQ(simulated(json).writer, 25);
}

TEST(own_messages, come_at_the_end_or_anywhere) {
  EXPECT_FALSE(parsed(pair("fp", 3)).callbacks.front().publishes_anywhere);
  EXPECT_TRUE(parsed(pair("fp", 3, "anywhere")).callbacks.front().publishes_anywhere);
  EXPECT_THROW(parsed(pair("fp", 3, "start")), application::ParseError);
}

// Callbacks a (core 0) -> b (core 1) -> c (core 0, more urgent), which compute 3, 2 and 4.
ScenarioReport to_and_fro(const std::string& policy, const std::string& more,
                          const std::string& period = "20") {
  const auto one = [&](const std::string& name, int cpu, int priority, int takes,
                       const std::string& how) {
    const std::string time = std::to_string(takes);
    return "{'name': '" + name + "', 'cpu': " + std::to_string(cpu) +
           ", 'priority': " + std::to_string(priority) + ", 'execution': {'best': " + time +
           ", 'worst': " + time + "}, " + how + more + "}";
  };
  return analyse_json(
             app(one("a", 0, 1, 3, "'period': " + period + ", 'writes': ['x']") + "," +
                     one("b", 1, 1, 2, "'kind': 'message', 'trigger': 'x', 'writes': ['y']") + "," +
                     one("c", 0, 2, 4, "'kind': 'message', 'trigger': 'y'"),
                 ", 'policy': '" + policy + "', 'cpus': [0, 1]"))
      .scenarios.front();
}

// Eq. 42: what it leads to over another core comes to its own core when it has ended, unless it
// publishes before, and preempts it then.
TEST(own_messages, over_other_cores_delay_only_a_job_that_publishes_before_its_end) {
  EXPECT_EQ(callback(to_and_fro("fp", ""), "a").response, nanoseconds{3});
  EXPECT_EQ(callback(to_and_fro("fp", ", 'publishes': 'anywhere'"), "a").response, nanoseconds{7});
}

// A job of c ends 9 after its release of a at most.
TEST(own_messages, of_an_earlier_release_delay_it_if_they_can_still_be_there) {
  EXPECT_EQ(callback(to_and_fro("fp", "", "12"), "a").response, nanoseconds{3});
  EXPECT_EQ(callback(to_and_fro("fp", "", "8"), "a").response, nanoseconds{7});
}

// Nor does a job block what it has led to, unless it publishes before its end.
TEST(own_messages, are_not_blocked_by_the_job_that_led_to_them) {
  EXPECT_EQ(callback(to_and_fro("np-fp", ""), "c").response, nanoseconds{4});
  EXPECT_EQ(callback(to_and_fro("np-fp", ", 'publishes': 'anywhere'"), "c").response,
            nanoseconds{6});
}

}  // namespace
}  // namespace takt::analysis
