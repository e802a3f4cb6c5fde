// SPDX-License-Identifier: Apache-2.0
//
// A chain through several joins of one core as one path, by hand.
#include <gtest/gtest.h>

#include "takt/analysis/analyse.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

using sched::TaskKind;

// At each of two joins the data waits for nearly a period. Only at the first one does the next data
// count from the release: T + L there, and F + L at the second one.
TEST(BusyPath, counts_the_wait_in_each_join_of_a_path) {
  application::Application app{.name = "two", .policy = "fp"};
  app.cpus = {0};
  const auto add = [&app](const char* name, const char* trigger, const char* join,
                          const char* topic) -> sched::Task& {
    application::Callback& callback = app.callbacks.emplace_back();
    callback.task.name = callback.node = name;
    callback.task.trigger = trigger;
    callback.task.writes = {topic};
    callback.execution = {.best = nanoseconds{1}, .worst = nanoseconds{1}};
    callback.task.parameters = {.deadline = nanoseconds{300},
                                .priority = 5,
                                .expected_execution = nanoseconds{1},
                                .overrun = sched::Overrun::catch_up};
    if (*join != 0) {
      callback.node = callback.join = join;
    }
    if (*trigger != 0) {
      callback.task.kind = TaskKind::message;
    } else {
      callback.task.parameters.period = nanoseconds{100};
    }
    return callback.task;
  };
  for (const char* topic : {"a", "b", "c", "ab", "abc", "end"}) {
    app.topics.push_back({.name = topic, .depth = 10});
  }
  add("first", "", "", "a");
  add("late", "", "", "b").parameters.offset = nanoseconds{97};
  add("later", "", "", "c").parameters.offset = nanoseconds{190};
  add("on_a", "a", "one", "ab");
  add("on_b", "b", "one", "ab");
  add("on_ab", "ab", "two", "abc");
  add("on_c", "c", "two", "abc");
  add("reader", "abc", "", "end");
  app.chains = {{.name = "whole", .callbacks = {"first", "on_a", "on_ab", "reader"}}};
  const sched::CompiledStrategy strategy = application::compile(app);
  const ScenarioModel model{app, strategy, strategy.scenarios().front()};
  ASSERT_EQ(model.longest_busy(0), nanoseconds{8});
  const std::optional<nanoseconds> latency = analyse(app).scenarios.front().chains.front().latency;
  ASSERT_TRUE(latency);
  EXPECT_LE(*latency, nanoseconds{100 + 8 + 100 + 8});
  const nanoseconds found =
      sim::simulate(app, {.duration = nanoseconds{1000}}).chains.front().latency.max;
  EXPECT_LE(found, *latency);
  EXPECT_GT(found, nanoseconds{190});
}

}  // namespace
}  // namespace takt::analysis
