// SPDX-License-Identifier: Apache-2.0
//
// A chain through several joins of one core as one path, by hand.
#include <gtest/gtest.h>

#include "../analysis/documents.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

using sched::TaskKind;

// `first`, `second` and `third` every 100; two joins behind each other, and who reads what the
// second one publishes. All jobs take 1.
application::Application two_joins(const std::string& policy, nanoseconds second,
                                   nanoseconds third) {
  application::Application app{.name = "two", .policy = policy};
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
  add("second", "", "", "b").parameters.offset = second;
  add("third", "", "", "c").parameters.offset = third;
  add("on_a", "a", "one", "ab");
  add("on_b", "b", "one", "ab");
  add("on_ab", "ab", "two", "abc");
  add("on_c", "c", "two", "abc");
  add("reader", "abc", "", "end");
  app.chains = {{.name = "whole", .callbacks = {"first", "on_a", "on_ab", "reader"}}};
  return app;
}

nanoseconds longest(const application::Application& app) {
  return sim::simulate(app, {.duration = nanoseconds{1000}}).chains.front().latency.max;
}

ChainReport chain_of(const application::Application& app) {
  return analyse(app).scenarios.front().chains.front();
}

// At each of two joins the data waits for nearly a period. If offsets are not known, T + L at the
// first one, where the next data counts from the release, and F + L at the second one.
TEST(BusyPath, counts_the_wait_in_each_join_of_a_path) {
  const application::Application app =
      two_joins("rclcpp_events", nanoseconds{97}, nanoseconds{190});
  const ChainReport chain = chain_of(app);
  ASSERT_TRUE(chain.latency);
  EXPECT_LE(*chain.latency, nanoseconds{100 + 8 + 100 + 8});
  EXPECT_FALSE(contains(analyse(app).scenarios.front().remarks, "offsets"));
  EXPECT_LE(longest(app), *chain.latency);
  EXPECT_GT(longest(app), nanoseconds{190});
}

// With offsets: what is released at 0 is complete in the busy period of 97, and of 190.
TEST(BusyPath, counts_the_wait_from_release_to_release) {
  const application::Application app = two_joins("fp", nanoseconds{97}, nanoseconds{190});
  const sched::CompiledStrategy strategy = application::compile(app);
  const ScenarioModel model{app, strategy, strategy.scenarios().front()};
  ASSERT_EQ(model.longest_busy(0), nanoseconds{8});
  const ChainReport chain = chain_of(app);
  ASSERT_TRUE(chain.latency);
  EXPECT_EQ(*chain.latency, nanoseconds{190 + 8});
  EXPECT_TRUE(
      contains(analyse(app).scenarios.front().remarks, "assuming timers that keep their offsets"));
  EXPECT_LE(longest(app), *chain.latency);
  EXPECT_GT(longest(app), nanoseconds{190});
}

application::Application with_any_offsets(application::Application app) {
  for (application::Callback& callback : app.callbacks) {
    callback.task.any_offset = callback.task.kind == TaskKind::timer;
  }
  return app;
}

// With unknown offsets: as under rclcpp's executors, and in some runs it waits for a period.
TEST(BusyPath, promises_nothing_of_unknown_offsets) {
  const application::Application app =
      with_any_offsets(two_joins("fp", nanoseconds{0}, nanoseconds{0}));
  const ChainReport chain = chain_of(app);
  ASSERT_TRUE(chain.latency);
  EXPECT_EQ(*chain.latency, nanoseconds{100 + 8 + 100 + 8});
  EXPECT_FALSE(contains(analyse(app).scenarios.front().remarks, "offsets"));
  nanoseconds found{0};
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const sim::Result run = sim::simulate(
        app,
        {.duration = nanoseconds{1000}, .seed = seed, .execution = sim::ExecutionTimes::drawn});
    found = std::max(found, run.chains.front().latency.max);
  }
  EXPECT_LE(found, *chain.latency);
  EXPECT_GT(found, nanoseconds{90});
}

// The offset of the only timer does not matter: both callbacks of a join follow from it.
TEST(BusyPath, knows_that_one_timer_is_released_with_itself) {
  for (const char* policy : {"fp", "edf", "rclcpp_single_threaded", "rclcpp_events"}) {
    application::Application app =
        with_any_offsets(two_joins(policy, nanoseconds{0}, nanoseconds{0}));
    std::erase_if(app.callbacks, [](const application::Callback& callback) {
      return callback.task.name == "second" || callback.task.name == "third";
    });
    for (application::Callback& callback : app.callbacks) {
      if (callback.task.kind == TaskKind::timer) {
        callback.task.writes = {"a", "b", "c"};
      }
    }
    const ChainReport chain = chain_of(app);
    ASSERT_TRUE(chain.latency) << policy;
    EXPECT_LE(*chain.latency, nanoseconds{6}) << policy;
    EXPECT_EQ(longest(app), nanoseconds{6}) << policy;
  }
}

// Timers that are always released together, with L below their period: nothing waits for the next
// period.
TEST(BusyPath, counts_no_wait_where_all_is_released_together) {
  const application::Application app = two_joins("fp", nanoseconds{0}, nanoseconds{0});
  const ChainReport chain = chain_of(app);
  ASSERT_TRUE(chain.latency);
  EXPECT_LE(*chain.latency, nanoseconds{8});
  EXPECT_EQ(longest(app), nanoseconds{8});
}

// The core is busy for longer than a period: both jobs of on_b end before the first one of on_a,
// and so the second one's message stays for what comes a period later, behind `heavy`.
TEST(BusyPath, counts_the_wait_where_two_releases_come_in_a_busy_period) {
  application::Application app = two_joins("fp", nanoseconds{0}, nanoseconds{0});
  application::Callback& heavy = app.callbacks.emplace_back(app.callbacks[1]);
  heavy.task.name = heavy.node = "heavy";
  heavy.task.writes.clear();
  heavy.execution = {.best = nanoseconds{95}, .worst = nanoseconds{95}};
  heavy.task.parameters.expected_execution = nanoseconds{95};
  const auto set = [&app](const char* name, int priority, nanoseconds period) {
    for (application::Callback& callback : app.callbacks) {
      if (callback.task.name == name) {
        callback.task.parameters.priority = priority;
        callback.task.parameters.period = period;
      }
    }
  };
  for (const char* timer : {"first", "second", "third"}) {
    set(timer, 10, nanoseconds{100});
  }
  set("heavy", 9, nanoseconds{300});
  set("on_b", 8, nanoseconds{0});
  set("on_a", 1, nanoseconds{0});
  const sched::CompiledStrategy strategy = application::compile(app);
  const ScenarioModel model{app, strategy, strategy.scenarios().front()};
  const std::optional<nanoseconds> busy = model.longest_busy(0);
  ASSERT_TRUE(busy);
  const ChainReport chain = chain_of(app);
  ASSERT_TRUE(chain.latency);
  EXPECT_LE(longest(app), *chain.latency);
  EXPECT_GT(longest(app), *busy);
}

}  // namespace
}  // namespace takt::analysis
