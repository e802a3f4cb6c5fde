// SPDX-License-Identifier: Apache-2.0
//
// The bounds for rclcpp's own executors against the simulator, which decides as they do.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <utility>

#include "analysis/documents.hpp"
#include "analysis/random_tasks.hpp"
#include "analysis/simulated_applications.hpp"
#include "analysis/threads.hpp"
#include "sched/stock_executor.hpp"
#include "takt/sched/error.hpp"

namespace takt::analysis {
namespace {

constexpr std::array executors = {"rclcpp_single_threaded", "rclcpp_events"};

application::Application under(application::Application app, const std::string& executor,
                               std::size_t threads = 1) {
  app.policy = executor;
  app.cpus.resize(threads);
  std::iota(app.cpus.begin(), app.cpus.end(), 0);
  for (application::Callback& callback : app.callbacks) {
    callback.task.cpu = -1;
    if (sched::has_threads(executor) && !callback.task.group.empty()) {
      callback.node = callback.task.group;  // a group is of one node
    }
  }
  return app;
}

TEST(stock_executors, nothing_is_above_its_bound) {
  Tally tally;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(600));
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    const application::Application drawn = RandomApplication{seed}.make();
    for (const char* const executor : executors) {
      const application::Application app = under(drawn, executor);
      const Report report = analyse(app, {.sensitivity = false, .proposals = false});
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + describe(app));
      for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
        compare(
            app, report,
            sim::simulate(
                app,
                {.duration = 120ms, .seed = seed, .execution = execution, .percentiles = false}),
            tally);
      }
    }
  }
  EXPECT_GT(tally.accepted, rounds(200));
  EXPECT_GT(tally.bounded, rounds(4000));
  EXPECT_GT(tally.chains, rounds(400));
  EXPECT_GT(tally.reached, rounds(5));
}

// Some of the callbacks that may be.
int make_reentrant(application::Application& app, RandomTasks& random) {
  int count = 0;
  for (application::Callback& callback : app.callbacks) {
    const bool may = callback.task.group.empty() && callback.join.empty() &&
                     callback.task.reads.empty() && !callback.task.waits;
    callback.reentrant = may && random.chance(0.5);
    count += callback.reentrant ? 1 : 0;
  }
  return count;
}

TEST(threads, nothing_is_above_its_bound) {
  Tally tally;
  int reentrant = 0;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(500));
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    RandomTasks random{seed};
    application::Application app = RandomApplication{seed}.make();
    if (random.chance(0.5)) {  // of two nodes with one group each, or one with a group
      for (application::Callback& callback : app.callbacks) {
        callback.task.group = random.chance(0.7) ? "g" : random.chance(0.5) ? "h" : "";
      }
    }
    app = under(app, seed % 2 == 0 ? "rclcpp_multi_threaded" : "rclcpp_events_cbg",
                static_cast<std::size_t>(random.number(1, 4)));
    if (seed % 4 == 0) {
      reentrant += make_reentrant(app, random);
    }
    if (random.chance(0.3)) {
      app.cores.push_back({.cpu = 1, .latency = nanoseconds{random.number(0, 20'000)}});
    }
    if (random.chance(0.3)) {
      app.cores.push_back({.cpu = 0});
      app.cores.back().interrupts = {
          {.period = 1ms, .duration = 20us, .burst = random.number(1, 3)}};
      if (random.chance(0.5)) {
        app.cores.back().supply = application::Supply{
            .budget = nanoseconds{1000 * random.number(80, 100)}, .period = 100us};
      }
    }
    std::string on = std::to_string(app.cpus.size()) + " threads";
    for (const application::Core& core : app.cores) {
      on += ", core " + std::to_string(core.cpu) + " latency " +
            std::to_string(core.latency.count()) + " bursts of " +
            std::to_string(core.interrupts.empty() ? 0 : core.interrupts.front().burst) +
            " budget " + std::to_string(core.supply ? core.supply->budget.count() : 0);
    }
    const Report report = analyse(app, {.sensitivity = false, .proposals = false});
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + on + ", " + describe(app));
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      compare(
          app, report,
          sim::simulate(
              app, {.duration = 120ms, .seed = seed, .execution = execution, .percentiles = false}),
          tally);
    }
  }
  EXPECT_GT(tally.accepted, rounds(200));
  EXPECT_GT(tally.bounded, rounds(2500));
  EXPECT_GT(tally.chains, rounds(200));
  EXPECT_GT(tally.reached, rounds(5));
  EXPECT_GT(reentrant, rounds(50));
}

// Some microseconds of supply may be missing, and interrupts come.
TEST(stock_executors, nothing_is_above_its_bound_where_the_core_is_withheld) {
  Tally tally;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(250));
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    RandomTasks random{seed};
    application::Application app =
        under(RandomApplication{seed}.make(), executors.at(static_cast<std::size_t>(seed % 2)));
    application::Core core{.cpu = 0};
    core.supply =
        application::Supply{.budget = nanoseconds{1000 * random.number(60, 100)}, .period = 100us};
    core.latency = nanoseconds{random.number(0, 20'000)};
    if (random.chance(0.5)) {
      core.interrupts = {{.period = 1ms, .duration = 20us, .burst = random.number(1, 3)}};
    }
    app.cores.push_back(core);
    const Report report = analyse(app, {.sensitivity = false, .proposals = false});
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + describe(app));
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      compare(
          app, report,
          sim::simulate(
              app, {.duration = 60ms, .seed = seed, .execution = execution, .percentiles = false}),
          tally);
    }
  }
  EXPECT_GT(tally.bounded, rounds(750));
}

// Each pair of periods and execution times, and each pair of offsets.
TEST(stock_executors, no_offset_of_small_timers_leads_above_the_bound) {
  int reached = 0;
  for (const char* const executor : executors) {
    for (int set = 0; set < 81; ++set) {
      const std::array<int, 3> executions = {1 + set % 3, 1 + set / 3 % 3, 1 + set / 9 % 3};
      const std::array<int, 3> periods = {5, 6 + set / 27, 12};
      const auto document = [&](int second, int third) {
        std::string callbacks;
        for (std::size_t i = 0; i < 3; ++i) {
          const int offset = i == 1 ? second : i == 2 ? third : 0;
          callbacks += (i == 0 ? "" : ", ") + std::string{"{'name': 'c"} + std::to_string(i) +
                       "', 'period': " + std::to_string(periods.at(i)) +
                       ", 'offset': " + std::to_string(offset) +
                       ", 'execution': {'worst': " + std::to_string(executions.at(i)) + "}}";
        }
        return app(callbacks, ", 'executor': '" + std::string{executor} + "'");
      };
      const Report report =
          analyse(parsed(document(0, 0)), {.sensitivity = false, .proposals = false});
      for (int offsets = 0; offsets < periods[1] * periods[2] && !HasFailure(); ++offsets) {
        const application::Application app =
            parsed(document(offsets % periods[1], offsets / periods[1]));
        const sim::Result result =
            sim::simulate(app, {.duration = nanoseconds{300}, .percentiles = false});
        for (std::size_t i = 0; i < 3; ++i) {
          const auto& bound = report.scenarios.front().callbacks[i].response;
          if (bound) {
            EXPECT_LE(result.callbacks[i].response.max, *bound) << executor << " " << set;
            reached += result.callbacks[i].response.max == *bound ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_GT(reached, 100);
}

// Each callback once in the round in progress and once in the next, however often the others come.
TEST(wait_set, a_round_bounds_what_comes_too_often_for_a_priority) {
  const Report report = analyse_json(
      app(timer("often", 4, 2, 1) + ", " + timer("also", 5, 2, 1) + ", " + timer("rare", 100, 3, 1),
          ", 'executor': 'rclcpp_single_threaded'"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(callback(scenario, "rare").response, nanoseconds{2 * (2 + 2) + 3});
  EXPECT_EQ(callback(scenario, "rare").verdict, Verdict::meets);
}

TEST(wait_set, what_comes_seldom_counts_once) {
  const Report report = analyse_json(
      app(timer("a", 100, 2, 1) + ", " + timer("b", 100, 3, 1) + ", " + timer("c", 100, 4, 1),
          ", 'executor': 'rclcpp_single_threaded'"));
  for (const CallbackReport& one : report.scenarios.front().callbacks) {
    EXPECT_EQ(one.response, nanoseconds{9}) << one.name;
  }
}

// Two groups and two threads: neither waits for the other one.
TEST(threads, with_a_thread_for_each_group_no_group_waits_for_another) {
  const std::string callbacks = timer("n.a", 100, 2, 1, ", 'node': 'n', 'group': 'g'") + ", " +
                                timer("n.b", 100, 3, 1, ", 'node': 'n', 'group': 'g'") + ", " +
                                timer("long", 100, 40, 1);
  const Report report =
      analyse_json(app(callbacks, ", 'executor': 'rclcpp_multi_threaded', 'cpus': [0, 1]"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(callback(scenario, "n.a").response, nanoseconds{5});
  EXPECT_EQ(callback(scenario, "n.b").response, nanoseconds{5});
  EXPECT_EQ(callback(scenario, "long").response, nanoseconds{40});
}

// Two jobs of the timer run at once, so neither the period nor the other group delays one.
TEST(threads, jobs_of_a_reentrant_group_share_the_threads) {
  const Report report =
      analyse_json(app(timer("a", 10, 12, 1, ", 'at_once': 2") + ", " + timer("b", 20, 3, 1),
                       ", 'executor': 'rclcpp_multi_threaded', 'cpus': [0, 1]"));
  const auto& callbacks = report.scenarios.front().callbacks;
  ASSERT_EQ(callbacks.size(), 2U);
  EXPECT_EQ(callbacks[0].name, "a");
  EXPECT_GE(callbacks[0].response, nanoseconds{13});
  EXPECT_LE(callbacks[0].response, nanoseconds{20});
  const Report exclusive =
      analyse_json(app(timer("a", 10, 12, 1) + ", " + timer("b", 20, 3, 1),
                       ", 'executor': 'rclcpp_multi_threaded', 'cpus': [0, 1]"));
  EXPECT_FALSE(exclusive.scenarios.front().callbacks[0].response);
}

// A message has a job of its own, whichever comes first; what a timer finds last may be older.
TEST(threads, data_of_a_reentrant_group_may_be_overtaken) {
  const std::string first = timer("a", 10, 12, 1, ", 'writes': ['t'], 'at_once': 2");
  const auto chain_to = [&](const std::string& last) {
    return analyse_json(app(first + ", " + last,
                            ", 'executor': 'rclcpp_multi_threaded', 'cpus': [0, 1], 'topics': "
                            "[{'name': 't', 'depth': 4}], "
                            "'chains': [{'name': 'c', 'callbacks': ['a', 'b']}]"));
  };
  const Report each = chain_to(message("b", "t", 1, 1));
  const ScenarioReport& scenario = each.scenarios.front();
  const nanoseconds sum = *scenario.callbacks[0].response + *scenario.callbacks[1].response;
  EXPECT_EQ(scenario.chains.front().latency, sum);
  EXPECT_EQ(scenario.chains.front().age, sum);
  EXPECT_EQ(scenario.chains.front().reaction, sum + nanoseconds{10});
  const Report last = chain_to(timer("b", 40, 1, 1, ", 'reads': [{'topic': 't'}]"));
  const ChainReport& chain = last.scenarios.front().chains.front();
  const auto response = [&](const char* name) {
    return *callback(last.scenarios.front(), name).response;
  };
  const nanoseconds come = response("a") + response("b.t");
  const nanoseconds period{10};
  EXPECT_EQ(chain.age, come + period + come + response("b"));
  ASSERT_TRUE(chain.latency.has_value());
  EXPECT_EQ(chain.reaction, *chain.latency + period + period + come);
}

// Three groups share the time of two threads. None of the two others has more than is its own.
TEST(threads, groups_share_the_threads) {
  const std::string callbacks =
      timer("short", 100, 2, 1) + ", " + timer("a", 100, 9, 1) + ", " + timer("b", 100, 5, 1);
  const Report report =
      analyse_json(app(callbacks, ", 'executor': 'rclcpp_multi_threaded', 'cpus': [0, 1]"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(callback(scenario, "short").response, nanoseconds{5 + 2});
  EXPECT_EQ(callback(scenario, "a").response, nanoseconds{2 + 9});
  EXPECT_EQ(callback(scenario, "b").response, nanoseconds{2 + 5});
}

// Both callbacks of a group that is always busy: no order is known in which they would end.
TEST(threads, what_has_no_bound_gets_none) {
  const std::string group = ", 'node': 'n', 'group': 'g'";
  const Report report =
      analyse_json(app(timer("n.a", 10, 11, 1, group) + ", " + timer("n.b", 100, 1, 1, group) +
                           ", " + timer("c", 50, 5, 1),
                       ", 'executor': 'rclcpp_multi_threaded', 'cpus': [0, 1]"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_FALSE(callback(scenario, "n.b").response.has_value());
  EXPECT_EQ(callback(scenario, "c").response, nanoseconds{5});
}

TEST(threads, no_bound_depends_on_the_order_in_which_groups_are_taken) {
  const std::string callbacks =
      timer("short", 100, 2, 1) + ", " + timer("a", 100, 9, 1) + ", " + timer("b", 100, 5, 1);
  const auto bounds = [&](const std::string& executor) {
    return analyse_json(app(callbacks, ", 'executor': '" + executor + "', 'cpus': [0, 1]"))
        .scenarios.front();
  };
  const ScenarioReport in_turn = bounds("rclcpp_events_cbg");
  const ScenarioReport wait_set = bounds("rclcpp_multi_threaded");
  for (std::size_t i = 0; i < in_turn.callbacks.size(); ++i) {
    EXPECT_EQ(in_turn.callbacks[i].response, wait_set.callbacks[i].response);
  }
}

// In any order: a starts when b and short have ended.
TEST(threads, groups_in_turn_share_one_thread) {
  const ScenarioReport one =
      analyse_json(app(timer("short", 100, 2, 1) + ", " + timer("a", 100, 9, 1) + ", " +
                           timer("b", 100, 5, 1),
                       ", 'executor': 'rclcpp_events_cbg'"))
          .scenarios.front();
  for (const CallbackReport& callback : one.callbacks) {
    EXPECT_EQ(callback.response, nanoseconds{2 + 9 + 5}) << callback.name;
  }
}

// Of either core: whoever looks for what is ready may be there.
TEST(threads, what_interrupts_one_core_counts_on_all) {
  const std::string cores =
      ", 'executor': 'rclcpp_multi_threaded', 'cpus': [0, 1], 'cores': [{'cpu': 1, 'latency': 0, "
      "'interrupts': [{'period': 20, 'duration': 3}]}]";
  const ScenarioReport report =
      analyse_json(app(timer("a", 100, 2, 1) + ", " + timer("b", 100, 5, 1), cores))
          .scenarios.front();
  EXPECT_EQ(callback(report, "a").response, nanoseconds{2 + 3});
  EXPECT_EQ(callback(report, "b").response, nanoseconds{5 + 3});
}

TEST(arrival_order, everything_that_is_released_before_comes_before) {
  const Report report = analyse_json(
      app(timer("a", 100, 2, 1) + ", " + timer("b", 100, 3, 1), ", 'executor': 'rclcpp_events'"));
  EXPECT_EQ(report.policy, "rclcpp_events");
  for (const CallbackReport& one : report.scenarios.front().callbacks) {
    EXPECT_EQ(one.response, nanoseconds{5}) << one.name;
  }
}

TEST(stock_executors, what_is_read_waits_for_its_subscription) {
  const std::string reads = ", 'reads': [{'topic': 'scan', 'max_age': 50}]";
  const Report report = analyse_json(app(
      timer("n.scan", 20, 2, 1, ", 'writes': ['scan']") + ", " + timer("n.brake", 30, 3, 1, reads),
      ", 'executor': 'rclcpp_single_threaded', 'topics': [{'name': 'scan'}], "
      "'chains': [{'name': 'c', 'callbacks': ['n.scan', 'n.brake']}]"));
  const ScenarioReport& scenario = report.scenarios.front();
  ASSERT_EQ(scenario.callbacks.size(), 3U);
  EXPECT_EQ(scenario.callbacks.back().name, "n.brake.scan");
  EXPECT_TRUE(contains(report.remarks, "does not keep"));
  EXPECT_TRUE(scenario.chains.front().latency.has_value());
}

TEST(stock_executors, what_they_do_not_have_is_refused) {
  const std::string one = timer("a", 100, 2, 1);
  const auto refused = [&](const std::string& more, const std::string& words) {
    try {
      static_cast<void>(parsed(app(one, more)));
      ADD_FAILURE() << more;
    } catch (const sched::ScheduleError& error) {
      EXPECT_NE(std::string{error.what()}.find(words), std::string::npos) << error.what();
    }
  };
  refused(", 'executor': 'rclcpp_event'", "rclcpp_events");
  refused(", 'executor': 'rclcpp_events', 'policy': 'edf'", "an order of its own");
  refused(", 'executor': 'rclcpp_events', 'cpus': [0, 1]", "one thread");
  refused(", 'executor': 'rclcpp_events', 'scenarios': [{'name': 's', 'tasks': []}]",
          "no scenarios");
  const std::string threads = ", 'executor': 'rclcpp_multi_threaded', 'cpus': [0, 1]";
  refused(threads + ", 'scenarios': [{'name': 's', 'tasks': []}]", "no scenarios");
}

TEST(stock_executors, reentrant_groups_are_refused_where_they_have_no_meaning) {
  const auto refused = [&](const std::string& executor, const std::string& callbacks,
                           const std::string& more, const std::string& words) {
    try {
      static_cast<void>(parsed(app(callbacks, ", 'executor': '" + executor + "'" + more)));
      ADD_FAILURE() << callbacks;
    } catch (const sched::ScheduleError& error) {
      EXPECT_NE(std::string{error.what()}.find(words), std::string::npos) << error.what();
    }
  };
  const std::string two = timer("n.a", 9, 2, 1, ", 'writes': ['t'], 'at_once': 2");
  const std::string cpus = ", 'cpus': [0, 1]";
  refused("rclcpp_events", two, "", "one thread");
  refused("rclcpp_events_cbg", two, cpus, "as a mutually exclusive one");
  refused("rclcpp_multi_threaded", two, ", 'cpus': [0, 1, 2]", "set at_once to 3");
  refused("rclcpp_multi_threaded", timer("n.a", 9, 2, 1, ", 'group': 'g', 'at_once': 2"), cpus,
          "exclusive group");
  refused("rclcpp_multi_threaded",
          timer("n.a", 9, 2, 1, ", 'reads': [{'topic': 't'}], 'at_once': 2"), cpus,
          "it reads a topic");
  refused(
      "rclcpp_multi_threaded",
      two + ", " + message("m.b", "t", 1, 1, ", 'at_once': 2") + ", " + message("m.c", "t", 1, 1),
      cpus, "hears the same topic");
  const application::Application whole =
      parsed(app(two, ", 'executor': 'rclcpp_multi_threaded'" + cpus));
  ASSERT_EQ(whole.callbacks.size(), 1U);
  EXPECT_TRUE(whole.callbacks.front().reentrant);
}

}  // namespace
}  // namespace takt::analysis
