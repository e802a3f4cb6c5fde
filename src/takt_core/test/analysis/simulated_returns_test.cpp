// SPDX-License-Identifier: Apache-2.0
//
// Random chains that come back to their cores while earlier releases are still on their way: no run
// is above its bound (docs/reference/analysis.md, eq. 42). By hand as exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "../policies.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

class RandomReturns : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  application::Application make(const std::string& policy) {
    application::Application app{.name = "random", .policy = policy};
    app.cpus = chance(0.7) ? std::vector{0, 1} : std::vector{0, 1, 2};
    grouped_ = chance(0.5);
    rising_ = chance(0.6);
    anywhere_ = chance(0.2);
    for (std::int64_t chains = chance(0.7) ? 1 : 2; chains > 0; --chains) {
      add_chain(app, number(20, 60));
    }
    for (std::int64_t timers = number(0, 3); timers > 0; --timers) {
      add_chain(app, number(8, 60), 1);
    }
    return app;
  }

 private:
  int core(const application::Application& app) {
    return app
        .cpus[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(app.cpus.size()) - 1))];
  }

  void add_chain(application::Application& app, std::int64_t period, std::int64_t length = 0) {
    const bool timer = length == 1;
    length = timer ? 1 : number(2, 7);
    const std::string name = "c" + std::to_string(app.callbacks.size());
    application::Chain chain{.name = name};
    const std::int64_t base = number(10, 60);
    for (std::int64_t i = 0; i < length; ++i) {
      application::Callback own;
      own.task.name = name + "_" + std::to_string(i);
      const std::int64_t worst = number(1, std::max<std::int64_t>(1, (timer ? 1 : 2) * period / 6));
      own.execution = {.best = nanoseconds{chance(0.6) ? number(0, worst) : worst},
                       .worst = nanoseconds{worst}};
      own.execution.quantiles = {own.execution.best, own.execution.best, own.execution.worst,
                                 own.execution.worst};
      own.publishes_anywhere = anywhere_ && chance(0.3);
      own.task.cpu = core(app);
      own.task.parameters = {.deadline = nanoseconds{20 * period},
                             .expected_execution = own.execution.worst,
                             .overrun = sched::Overrun::catch_up};
      own.task.parameters.priority =
          static_cast<int>(rising_ && !timer ? base + i : number(10, 67));
      if (grouped_ && !timer) {
        own.task.group = name + "_" + std::to_string(own.task.cpu);
      }
      if (i == 0) {
        own.task.parameters.period = nanoseconds{period};
        own.task.parameters.offset = nanoseconds{number(0, period)};
      } else {
        own.task.kind = sched::TaskKind::message;
        own.task.trigger = name + "_t" + std::to_string(i - 1);
      }
      const std::string topic = name + "_t" + std::to_string(i);
      app.topics.push_back({.name = topic, .depth = 100});
      own.task.writes.push_back(topic);
      chain.callbacks.push_back(own.task.name);
      app.callbacks.push_back(std::move(own));
    }
    if (!timer) {
      app.chains.push_back(chain);
    }
  }

  bool grouped_ = false;
  bool rising_ = false;
  bool anywhere_ = false;
};

std::string words_of_returns(const application::Application& app) {
  std::string text = "policy " + app.policy + "\n";
  for (const application::Callback& callback : app.callbacks) {
    const sched::Task& task = callback.task;
    text += task.name + " core " + std::to_string(task.cpu) + " T " +
            std::to_string(task.parameters.period.count()) + " O " +
            std::to_string(task.parameters.offset.count()) + " C " +
            std::to_string(callback.execution.best.count()) + ".. " +
            std::to_string(callback.execution.worst.count()) + " P " +
            std::to_string(task.parameters.priority) + " " + task.group +
            (callback.publishes_anywhere ? " publishes anywhere" : "") + "\n";
  }
  return text;
}

struct ReturnsTally {
  int bounds = 0;
  int in_order = 0;  // of them: by eq. 42
  int reached = 0;
};

void hold_return(const std::optional<nanoseconds>& bound, const sim::Distribution& observed,
                 const std::string& by, ReturnsTally& tally) {
  if (!bound || observed.count == 0) {
    return;
  }
  EXPECT_LE(observed.max, *bound) << by;
  const bool in_order = by.find("42") != std::string::npos;
  ++tally.bounds;
  tally.in_order += in_order ? 1 : 0;
  tally.reached += in_order && observed.max == *bound ? 1 : 0;
}

void hold_returns(const ScenarioReport& report, const sim::Result& run, ReturnsTally& tally) {
  for (std::size_t i = 0; i < report.callbacks.size(); ++i) {
    const CallbackReport& callback = report.callbacks[i];
    hold_return(callback.response, run.callbacks[i].response, callback.name + callback.bound_by,
                tally);
  }
  for (std::size_t i = 0; i < report.chains.size(); ++i) {
    const ChainReport& chain = report.chains[i];
    hold_return(chain.latency, run.chains[i].latency, "latency " + chain.bound_by, tally);
    hold_return(chain.reaction, run.chains[i].reaction, "reaction " + chain.bound_by, tally);
    hold_return(chain.age, run.chains[i].age, "age " + chain.bound_by, tally);
  }
}

class EveryReturnSimulated : public testing::TestWithParam<std::string> {};

TEST_P(EveryReturnSimulated, is_within_its_bounds) {
  ReturnsTally tally;
  const int sets = rounds(10);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const application::Application app = RandomReturns{seed}.make(GetParam());
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + words_of_returns(app));
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      hold_returns(report,
                   sim::simulate(app, {.duration = nanoseconds{3'000},
                                       .seed = seed,
                                       .execution = execution,
                                       .percentiles = false}),
                   tally);
    }
  }
  if (sets >= 10 && !GetParam().ends_with("edf")) {  // a few sets may have none
    EXPECT_GT(tally.in_order, 0);
  }
  std::cout << sets << " sets, " << tally.bounds << " bounds, " << tally.in_order
            << " by the order of returns, " << tally.reached << " of them reached\n";
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryReturnSimulated,
                         testing::Values("fp", "np-fp", "edf", "np-edf"), test::policy_name);

}  // namespace
}  // namespace takt::analysis
