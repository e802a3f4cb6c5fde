// SPDX-License-Identifier: Apache-2.0
//
// Best cases beside others (docs/reference/analysis.md, eq. 44): one set for each condition, with
// a simulated run in which a message comes before, or a response is longer, than it would be
// without that condition.
#include <gtest/gtest.h>

#include <string>

#include "documents.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

// On core 0 callbacks above a writer, on core 1 its reader above a timer.
std::string beside(const std::string& above, const std::string& writer,
                   const std::string& more = "") {
  return app(above + "," + writer + "," +
                 message("reader", "x", 1, 2, ", 'cpu': 1, 'deadline': 20") + "," +
                 timer("victim", 40, 18, 1, ", 'cpu': 1, 'offset': 8, 'deadline': 19"),
             ", 'topics': [{'name': 'x', 'depth': 10}], 'cpus': [0, 1], 'chains': [{'name': 'c', "
             "'callbacks': ['writer', 'reader']}]" +
                 more);
}

std::string on_0(const std::string& name, int period, int worst, int priority,
                 const std::string& more = "") {
  return timer(name, period, worst, priority, ", 'cpu': 0" + more);
}

std::string writer(int period, int worst, const std::string& more = "") {
  return on_0("writer", period, worst, 1, ", 'writes': ['x']" + more);
}

// From the writer's release to the message, at least: by analysis, and in a run.
struct Earliest {
  nanoseconds bound{0};
  nanoseconds in_run{0};
};
Earliest earliest(const std::string& document) {
  const application::Application described = parsed(document);
  const sched::CompiledStrategy strategy = application::compile(described);
  ScenarioModel model{described, strategy, strategy.scenarios().front()};
  Effort effort;
  model.solve(effort, Graphs::none);
  Earliest result;
  for (std::size_t stream = 0; stream < model.streams().size(); ++stream) {
    if (model.streams()[stream].parent != nobody) {
      result.bound = model.offset(stream);
    }
  }
  const sim::Result run =
      sim::simulate(described, {.duration = 5'000ns, .execution = sim::ExecutionTimes::drawn});
  result.in_run = run.chains.front().latency.min - 1ns;  // the reader computes for 1
  return result;
}

TEST(best_cases, count_what_is_above) {
  const Earliest found = earliest(beside(on_0("above", 4, 1, 3), writer(20, 6)));
  EXPECT_EQ(found.bound, 7ns);
  EXPECT_LE(found.bound, found.in_run);
}

// The one above waits for the end of the writer, which has begun: its group reaches that one.
TEST(best_cases, count_only_what_is_above_the_ceiling_of_the_group) {
  const Earliest found =
      earliest(beside(on_0("above", 4, 1, 3, ", 'offset': 1, 'overrun': 'catch_up'") + "," +
                          on_0("other", 20, 1, 4, ", 'offset': 12, 'group': 'g'"),
                      writer(20, 6, ", 'group': 'g'")));
  EXPECT_EQ(found.bound, 6ns);
  EXPECT_EQ(found.in_run, 6ns);
}

// While the long one runs, of two releases of the short one, one is dropped.
TEST(best_cases, count_nothing_of_which_releases_are_dropped) {
  const auto of = [](const std::string& overrun) {
    return earliest(
        beside(on_0("long", 12, 5, 4) + "," + on_0("short", 4, 1, 3, overrun), writer(48, 10)));
  };
  const Earliest skips = of(", 'overrun': 'skip'");
  EXPECT_EQ(skips.bound, 15ns);
  EXPECT_EQ(skips.in_run, 24ns);
  const Earliest all = of(", 'overrun': 'catch_up'");
  EXPECT_EQ(all.bound, 26ns);
  EXPECT_LE(all.bound, all.in_run);
}

// Of two releases around the writer's job one is noticed at once, and the next one late.
TEST(best_cases, count_releases_that_are_noticed_late_from_when_they_are) {
  const Earliest found = earliest(beside(on_0("above", 4, 1, 3, ", 'jitter': 3"), writer(21, 6)));
  EXPECT_EQ(found.bound, 6ns);
  EXPECT_EQ(found.in_run, 6ns);
}

// The second job of the writer comes after the switch, and takes 6 in place of 8: its message is 18
// after the one before.
TEST(best_cases, count_nothing_around_a_switch_which_may_stop_it) {
  application::Application described =
      parsed(beside(on_0("above", 4, 1, 3), writer(20, 6),
                    ", 'scenarios': [{'name': 'one'}, {'name': 'two', 'tasks': [{'task': 'above', "
                    "'period': 100}]}]"));
  const Report report = analyse(described, {.sensitivity = false, .proposals = false});
  described.switches.push_back({.at = 10ns, .scenario = "two"});
  const sim::Result run = sim::simulate(described, {.duration = 40ns});
  EXPECT_EQ(run.callbacks.back().response.max, 20ns);
  EXPECT_EQ(report.switches->verdict, Verdict::not_proved);  // 19 is its deadline
}

}  // namespace
}  // namespace takt::analysis
