// SPDX-License-Identifier: Apache-2.0
//
// The busy period of the levels of a chain through a join, beside less urgent callbacks
// (docs/reference/analysis.md, eq. 22), by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "../analysis/documents.hpp"
#include "takt/application/application.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

using sched::TaskKind;

// `left` and `right` every 100, the join of what they publish, and its reader, which take 1 each.
// `slow` every 100 takes 20, below all of these.
class BusyLevel : public testing::Test {
 protected:
  BusyLevel() {
    app_.name = "level";
    app_.cpus = {0};
    for (const char* topic : {"l", "r", "both", "end"}) {
      app_.topics.push_back({.name = topic, .depth = 10});
    }
    add("left", "", "l", 9);
    add("right", "", "r", 9);
    add("on_l", "l", "both", 8).join = "join";
    add("on_r", "r", "both", 8).join = "join";
    add("reader", "both", "end", 7);
    add("slow", "", "", 1).execution = {.best = nanoseconds{20}, .worst = nanoseconds{20}};
    app_.callbacks.back().task.parameters.expected_execution = nanoseconds{20};
    app_.chains = {{.name = "whole", .callbacks = {"left", "on_l", "reader"}}};
  }

  application::Callback& add(const char* name, const char* trigger, const char* topic,
                             int priority) {
    application::Callback& callback = app_.callbacks.emplace_back();
    callback.task.name = name;
    callback.node = callback.task.name.starts_with("on_") ? "joined" : name;
    callback.task.trigger = trigger;
    if (*topic != 0) {
      callback.task.writes = {topic};
    }
    callback.execution = {.best = nanoseconds{1}, .worst = nanoseconds{1}};
    callback.task.parameters = {.deadline = nanoseconds{100},
                                .priority = priority,
                                .expected_execution = nanoseconds{1},
                                .overrun = sched::Overrun::catch_up};
    if (*trigger != 0) {
      callback.task.kind = TaskKind::message;
    } else {
      callback.task.parameters.period = nanoseconds{100};
    }
    return callback;
  }

  application::Callback& of(const std::string& name) {
    return *std::ranges::find_if(app_.callbacks,
                                 [&](const auto& callback) { return callback.task.name == name; });
  }

  // The bound of the chain, which its longest run does not exceed.
  nanoseconds bound() {
    const ChainReport chain = analyse(app_).scenarios.front().chains.front();
    const nanoseconds longest =
        sim::simulate(app_, {.duration = nanoseconds{2000}}).chains.front().latency.max;
    EXPECT_TRUE(chain.latency);
    EXPECT_LE(longest, chain.latency.value_or(nanoseconds{0}));
    EXPECT_TRUE(chain.bound_by.starts_with("longest busy period")) << chain.bound_by;
    longest_ = longest;
    return chain.latency.value_or(nanoseconds{0});
  }

  application::Application app_;
  nanoseconds longest_{0};
};

TEST_F(BusyLevel, leaves_out_what_is_less_urgent) {
  for (const char* policy : {"fp", "np-fp"}) {
    app_.policy = policy;
    of("slow").task.parameters.offset = nanoseconds{100 - 1};  // just before the others
    EXPECT_EQ(bound(), nanoseconds{app_.policy == "fp" ? 5 : 24});
    EXPECT_EQ(longest_, nanoseconds{app_.policy == "fp" ? 5 : 24});
  }
  app_.policy = "edf";  // where any job may come before any other
  EXPECT_EQ(bound(), nanoseconds{25});
}

TEST_F(BusyLevel, counts_one_job_of_a_group_from_below) {
  app_.policy = "fp";
  of("slow").task.group = of("on_r").task.group = "exclusive";
  of("slow").task.parameters.offset = nanoseconds{100 - 1};
  add("slower", "", "", 2) = of("slow");
  app_.callbacks.back().task.name = app_.callbacks.back().node = "slower";
  app_.callbacks.back().task.parameters.offset = nanoseconds{50};
  EXPECT_EQ(bound(), nanoseconds{24});
  EXPECT_EQ(longest_, nanoseconds{24});
}

// Each takes time from what is more urgent although its job does not run.
TEST_F(BusyLevel, counts_the_releases_of_what_is_less_urgent) {
  app_.policy = "fp";
  app_.overheads.release = nanoseconds{1};
  for (int i = 0; i < 9; ++i) {
    add("below", "", "", 2);
    app_.callbacks.back().task.name += std::to_string(i);
    app_.callbacks.back().node = app_.callbacks.back().task.name;
    app_.callbacks.back().task.parameters.offset = nanoseconds{2};
  }
  const nanoseconds latency = bound();
  EXPECT_GE(longest_, nanoseconds{5 + 5 + 9});
  EXPECT_LE(latency, nanoseconds{5 + 5 + 10 + 2});
}

// A message that a less urgent job publishes makes it a part of the path, with all between them.
TEST_F(BusyLevel, takes_all_that_leads_to_the_chain) {
  app_.policy = "fp";
  of("right").task.parameters.priority = 3;
  add("between", "", "", 4).execution = {.best = nanoseconds{6}, .worst = nanoseconds{6}};
  app_.callbacks.back().task.parameters.expected_execution = nanoseconds{6};
  EXPECT_EQ(bound(), nanoseconds{5 + 6});
  EXPECT_EQ(longest_, nanoseconds{5 + 6});
}

}  // namespace
}  // namespace takt::analysis
