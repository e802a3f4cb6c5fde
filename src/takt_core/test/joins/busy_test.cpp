// SPDX-License-Identifier: Apache-2.0
//
// The longest time that a core with joins is busy (docs/reference/analysis.md, eq. 22): under no
// policy and executor a job outlasts it, whatever the jitters of messages are.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "../analysis/random_tasks.hpp"
#include "../policies.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

using sched::TaskKind;

// One core with a high load.
class BusyJoins : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  application::Application make(const std::string& policy) {
    application::Application app{.name = "busy", .policy = policy};
    app.cpus = {0};
    std::vector<Way> ways;
    losses_ = chance(0.5);
    last_ = true;  // the first timer comes after all others: it ends when the core does
    const bool small = chance(0.6);  // whose runs come near to the bound
    const bool lags = chance(0.2);
    for (std::int64_t i = small ? 2 : number(2, 3); i > 0; --i) {
      constexpr std::array<std::int64_t, 4> periods = {12, 18, 24, 36};
      application::Callback& callback = add(app, "");
      const std::int64_t period = periods[static_cast<std::size_t>(number(0, 3))];
      callback.task.parameters.period = nanoseconds{period};
      callback.task.parameters.offset = nanoseconds{chance(0.5) ? number(0, period) : 0};
      callback.jitter = nanoseconds{lags ? number(0, 20) : 0};
      ways.push_back({.topic = callback.task.writes.front(), .callbacks = {callback.task.name}});
      last_ = false;
    }
    for (std::int64_t join = small ? 1 : number(1, 2); join > 0; --join) {
      const std::string topic = add_topic(app);
      const std::string node = "n" + topic;
      std::vector<Way> joined;
      for (std::int64_t input = small ? 2 : number(2, 3); input > 0; --input) {
        joined.push_back(any(ways));
        application::Callback& callback = add(app, joined.back().topic);
        callback.node = node;
        callback.join = "all";
        callback.task.writes = {topic};
        joined.back().callbacks.push_back(callback.task.name);
      }
      const sched::Task& reader = add(app, topic).task;
      for (Way& way : joined) {
        way.callbacks.push_back(reader.name);
        way.topic = reader.writes.front();
        app.chains.push_back(
            {.name = "chain" + std::to_string(app.chains.size()), .callbacks = way.callbacks});
      }
      ways.push_back(joined.front());
    }
    return app;
  }

 private:
  // How data comes to a topic.
  struct Way {
    std::string topic;
    std::vector<std::string> callbacks;
  };

  application::Callback& add(application::Application& app, const std::string& trigger) {
    const std::string topic = add_topic(app);
    application::Callback& callback = app.callbacks.emplace_back();
    callback.task.name = callback.node = "c" + std::to_string(app.callbacks.size() - 1);
    callback.task.kind = trigger.empty() ? TaskKind::timer : TaskKind::message;
    callback.task.trigger = trigger;
    callback.task.writes = {topic};
    const std::int64_t worst = number(1, 4);
    callback.execution = {.best = nanoseconds{chance(0.5) ? number(0, worst) : worst},
                          .worst = nanoseconds{worst}};
    callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
    callback.task.parameters = {
        .deadline = nanoseconds{last_ ? 1000 : number(worst, 100)},
        .priority = last_ ? 1 : static_cast<int>(number(2, 12)),
        .expected_execution = callback.execution.worst,
        .overrun = losses_ && chance(0.5) ? sched::Overrun::skip : sched::Overrun::catch_up};
    return callback;
  }

  std::string add_topic(application::Application& app) {
    app.topics.push_back({.name = "t" + std::to_string(app.topics.size()),
                          .depth = losses_ ? static_cast<std::size_t>(number(1, 2)) : 100});
    return app.topics.back().name;
  }

  const Way& any(const std::vector<Way>& ways) {
    return ways[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(ways.size()) - 1))];
  }

  bool losses_ = false;
  bool last_ = false;
};

// Both messages of `twice` complete a set within 12 ns: the first one with what `once` stored
// before.
TEST(BusyCore, counts_a_publication_with_stored_messages) {
  application::Application app{.name = "stored", .policy = "fp"};
  app.cpus = {0};
  const auto add = [&app](const char* name, TaskKind kind, std::int64_t worst, int priority) {
    application::Callback callback;
    callback.task.name = callback.node = name;
    callback.task.kind = kind;
    callback.execution = {.best = nanoseconds{worst}, .worst = nanoseconds{worst}};
    callback.task.parameters = {.deadline = nanoseconds{100},
                                .priority = priority,
                                .expected_execution = nanoseconds{worst},
                                .overrun = sched::Overrun::catch_up};
    app.callbacks.push_back(callback);
  };
  for (const char* timer : {"once", "twice", "last"}) {
    add(timer, TaskKind::timer, 1, timer == std::string{"last"} ? 1 : 10);
    app.callbacks.back().task.parameters.period = nanoseconds{24};
    app.callbacks.back().task.parameters.offset = nanoseconds{10};
  }
  app.callbacks[0].task.parameters.period = nanoseconds{12};
  app.callbacks[0].task.parameters.offset = nanoseconds{0};
  app.callbacks[1].messages["second"] = {.least = 2, .most = 2};
  for (const char* topic : {"first", "second", "both"}) {
    const bool input = topic != std::string{"both"};
    add(input ? topic : "reader", TaskKind::message, input ? 1 : 3, input ? 9 : 5);
    app.topics.push_back({.name = topic, .depth = 10});
    app.callbacks.back().task.trigger = topic;
    if (input) {
      app.callbacks.back().node = "n";
      app.callbacks.back().join = "all";
      app.callbacks.back().task.writes = {"both"};
    }
  }
  app.callbacks[0].task.writes = {"first"};
  app.callbacks[1].task.writes = {"second"};
  const sched::CompiledStrategy strategy = application::compile(app);
  const ScenarioModel model{app, strategy, strategy.scenarios().front()};
  EXPECT_EQ(model.longest_busy(0), nanoseconds{12});
  EXPECT_EQ(sim::simulate(app, {.duration = nanoseconds{100}}).callbacks[2].response.max,
            nanoseconds{12});
  // So two messages for the reader come while the core is busy.
  app.chains = {{.name = "whole", .callbacks = {"twice", "second", "reader"}}};
  const auto latency = [&app](sched::Overrun overrun, std::size_t depth) {
    app.callbacks.back().task.parameters.overrun = overrun;
    app.topics.back().depth = depth;
    return analyse(app).scenarios.front().chains.front().latency;
  };
  EXPECT_TRUE(latency(sched::Overrun::catch_up, 2));
  EXPECT_FALSE(latency(sched::Overrun::catch_up, 1));
  EXPECT_FALSE(latency(sched::Overrun::skip, 2));
  const auto reason = [&app] { return analyse(app).scenarios.front().chains.front().bound_by; };
  EXPECT_EQ(
      reason(),
      "a message of topic 'both' may be lost before 'reader' reads it: up to 2 come in one busy "
      "period, and each job reads the newest. Fix: let it catch up (overrun: catch_up), "
      "and give the topic a depth of 2");
  app.callbacks.back().task.parameters.overrun = sched::Overrun::catch_up;
  app.topics.back().depth = 1;
  EXPECT_NE(reason().find("and the topic keeps 1. Fix: give it a depth of 2"), std::string::npos);
}

// By callback: whether all that comes to it while the core is busy gets its job, by the count.
std::vector<bool> loses_nothing(const application::Application& app, const ScenarioModel& model,
                                const ScenarioBounds& bounds) {
  std::vector<bool> result;
  for (std::size_t i = 0; i < app.callbacks.size(); ++i) {
    std::vector<std::size_t> streams;
    for (std::size_t stream = 0; stream < model.streams().size(); ++stream) {
      if (model.streams()[stream].callback == i) {
        streams.push_back(stream);
      }
    }
    const auto jobs = model.jobs_while_busy(streams, bounds);
    const sched::Task& task = app.callbacks[i].task;
    const application::Topic* const topic = app.find_topic(task.trigger);
    const bool skips = task.parameters.overrun == sched::Overrun::skip;
    result.push_back(
        jobs && *jobs <= (skips || topic == nullptr ? 1 : static_cast<std::int64_t>(topic->depth)));
  }
  return result;
}

class EveryBusyCore : public testing::TestWithParam<std::string> {};

TEST_P(EveryBusyCore, ends_its_jobs_in_time) {
  int bounded = 0;
  int reached = 0;
  int counts = 0;           // the bound of a response
  std::int64_t chains = 0;  // with a bound
  int complete = 0;         // callbacks that lose nothing, by the count
  int losses = 0;
  int paths = 0;       // through a join by busy periods
  double nearest = 0;  // to the bound of one of them
  double tightness = 0;
  const int sets = rounds(400);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const application::Application app = BusyJoins{seed}.make(GetParam());
    const sched::CompiledStrategy strategy = application::compile(app);
    ScenarioModel model{app, strategy, strategy.scenarios().front()};
    const std::optional<nanoseconds> busy = model.longest_busy(0);
    Effort effort;
    const std::vector<bool> kept = loses_nothing(app, model, model.solve(effort, Graphs::none));
    if (!busy) {
      continue;
    }
    ++bounded;
    nanoseconds late{0};
    for (const application::Callback& callback : app.callbacks) {
      late = std::max(late, callback.jitter);
    }
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    nanoseconds longest{0};
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      const sim::Result run = sim::simulate(app, {.duration = nanoseconds{5000},
                                                  .seed = seed,
                                                  .execution = execution,
                                                  .percentiles = false});
      for (std::size_t at = 0; at < run.chains.size(); ++at) {
        const ChainReport& chain = report.chains[at];
        const sim::ChainResult& found = run.chains[at];
        EXPECT_LE(found.latency.max, chain.latency.value_or(never)) << "seed " << seed;
        if (chain.latency && chain.bound_by.find("set of a join") != std::string::npos) {
          ++paths;
          nearest = std::max(nearest, static_cast<double>(found.latency.max.count()) /
                                          static_cast<double>(chain.latency->count()));
        }
        EXPECT_LE(found.age.max, chain.age.value_or(never)) << "seed " << seed;
        EXPECT_LE(found.reaction.max, chain.reaction.value_or(never)) << "seed " << seed;
      }
      for (std::size_t at = 0; at < run.callbacks.size(); ++at) {
        const nanoseconds response = run.callbacks[at].response.max;
        const CallbackReport& callback = report.callbacks[at];
        longest = std::max(longest, response);
        ASSERT_TRUE(callback.response) << "seed " << seed;
        EXPECT_LE(*callback.response, *busy + late) << "seed " << seed;
        EXPECT_LE(response, *callback.response)
            << "seed " << seed << ", " << callback.name << " by " << callback.bound_by;
        const sim::CallbackResult& found = run.callbacks[at];
        if (kept[at]) {
          EXPECT_EQ(found.skipped + found.overwritten, 0U) << "seed " << seed;
          ++complete;
        } else {
          losses += found.skipped + found.overwritten > 0 ? 1 : 0;
        }
        counts += callback.bound_by.find("eq. 22") != std::string::npos ? 1 : 0;
      }
    }
    EXPECT_LE(longest, *busy + late) << "seed " << seed;
    chains += std::ranges::count_if(
        report.chains, [](const ChainReport& chain) { return chain.latency.has_value(); });
    reached += longest == *busy ? 1 : 0;
    tightness += static_cast<double>(longest.count()) / static_cast<double>(busy->count());
  }
  std::cout << bounded << " of " << sets << " sets bounded, " << reached << " reached, longest "
            << tightness / std::max(1, bounded) << " of the bound; it counts for " << counts
            << " responses; " << chains << " chains, " << paths << " by busy periods up to "
            << nearest << " of the bound; " << complete << " callbacks lose nothing, " << losses
            << " others do\n";
  EXPECT_GT(complete, bounded);
  if (sets >= 400) {  // some policies lose data in one set of a hundred
    EXPECT_GT(losses, 0);
  }
  EXPECT_GT(chains, bounded / 2);
  EXPECT_GT(paths, bounded / 10);
  EXPECT_GT(bounded, sets / 5);
  if (!GetParam().starts_with("rclcpp")) {  // whose last job is any
    EXPECT_GT(reached, bounded / 100);
  }
  EXPECT_GT(counts, bounded / 2);
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryBusyCore,
                         testing::Values("fp", "edf", "np-fp", "np-edf", "rclcpp_single_threaded",
                                         "rclcpp_events"),
                         test::policy_name);

}  // namespace
}  // namespace takt::analysis
