// SPDX-License-Identifier: Apache-2.0
//
// Random chains whose jobs publish several messages, over cores to which they come back in turn, in
// few ticks so that much happens at the same time: no run is above its bound. By hand as
// exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "../policies.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

class RandomBursts : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  application::Application make(const std::string& policy) {
    application::Application app{.name = "random", .policy = policy};
    cores_ = number(2, 4);
    app.cpus.clear();
    for (int cpu = 0; cpu < cores_; ++cpu) {
      app.cpus.push_back(cpu);
    }
    order_ = static_cast<Order>(number(0, 3));
    in_turn_ = chance(0.8);
    period_ = chance(0.6) ? 600 : number(40, 150);  // short ones: several instances at once
    anywhere_ = chance(0.2);
    application::Chain chain{.name = "chain"};
    const std::int64_t length = number(3, 10);
    for (std::int64_t i = 0; i < length; ++i) {
      add(app, chain, i);
    }
    app.chains.push_back(chain);
    if (chance(0.6)) {
      add_others(app);
    }
    return app;
  }

 private:
  enum class Order : std::uint8_t { equal, falling, rising, any };

  application::Callback callback(const application::Application& app, std::int64_t most) {
    application::Callback result;
    result.task.name = result.node = "c" + std::to_string(app.callbacks.size());
    const std::int64_t worst = number(1, most);
    result.execution = {.best = nanoseconds{chance(0.6) ? number(0, worst) : worst},
                        .worst = nanoseconds{worst}};
    result.execution.quantiles = {result.execution.best, result.execution.worst};
    result.publishes_anywhere = anywhere_ && chance(0.3);
    result.task.parameters = {.deadline = nanoseconds{period_},
                              .expected_execution = result.execution.worst,
                              .overrun = sched::Overrun::catch_up};
    return result;
  }

  int priority(std::int64_t place) {
    switch (order_) {
      case Order::equal:
        return 40;
      case Order::falling:
        return static_cast<int>(60 - place * (chance(0.8) ? 2 : 0));
      case Order::rising:
        return static_cast<int>(20 + place);
      default:
        return static_cast<int>(number(20, 60));
    }
  }

  void add(application::Application& app, application::Chain& chain, std::int64_t place) {
    application::Callback own = callback(app, 6);
    own.task.parameters.priority = priority(place);
    own.task.cpu =
        app.cpus[static_cast<std::size_t>(in_turn_ ? place % cores_ : number(0, cores_ - 1))];
    if (place == 0) {
      own.task.parameters.period = nanoseconds{period_};
    } else {
      own.task.kind = sched::TaskKind::message;
      own.task.trigger = "t" + std::to_string(place - 1);
    }
    const std::string topic = "t" + std::to_string(place);
    app.topics.push_back({.name = topic, .depth = 40});
    own.task.writes.push_back(topic);
    if (chance(place == 0 ? 0.8 : 0.05)) {
      const std::int64_t most = number(2, 4);
      own.messages[topic] = {.least = chance(0.7) ? most : 1, .most = most};
    }
    if (order_ == Order::any && chance(0.3)) {
      own.task.parameters.deadline = nanoseconds{number(period_ / 6, 2 * period_)};
    }
    chain.callbacks.push_back(own.task.name);
    app.callbacks.push_back(std::move(own));
  }

  // Timers, and readers of what the chain publishes.
  void add_others(application::Application& app) {
    const auto length = static_cast<std::int64_t>(app.callbacks.size());
    for (std::int64_t i = number(1, 4); i > 0; --i) {
      application::Callback other = callback(app, 12);
      other.task.cpu = app.cpus[static_cast<std::size_t>(number(0, cores_ - 1))];
      other.task.parameters.priority = static_cast<int>(number(20, 70));
      if (chance(0.3)) {
        other.task.kind = sched::TaskKind::message;
        other.task.trigger = "t" + std::to_string(number(0, length - 1));
      } else {
        other.task.parameters.period = nanoseconds{number(2, 12) * 50};
        other.task.parameters.offset = nanoseconds{number(0, 100)};
        other.task.parameters.deadline = nanoseconds{number(20, 600)};
      }
      app.callbacks.push_back(std::move(other));
    }
  }

  std::int64_t cores_ = 2;
  std::int64_t period_ = 600;
  Order order_ = Order::equal;
  bool in_turn_ = true;
  bool anywhere_ = false;
};

std::string words_of_bursts(const application::Application& app) {
  std::string text = "policy " + app.policy + "\n";
  for (const application::Callback& callback : app.callbacks) {
    const sched::Task& task = callback.task;
    const auto number = [](auto time) { return std::to_string(time.count()) + " "; };
    text += task.name + " core " + std::to_string(task.cpu) + " T " +
            number(task.parameters.period) + "O " + number(task.parameters.offset) + "D " +
            number(task.parameters.deadline) + "C " + number(callback.execution.best) + ".. " +
            number(callback.execution.worst) + "P " + std::to_string(task.parameters.priority) +
            " " + task.trigger + (callback.publishes_anywhere ? " publishes anywhere" : "");
    for (const std::string& topic : task.writes) {
      text += " writes " + std::to_string(callback.messages_on(topic).most) + " to " + topic;
    }
    text += "\n";
  }
  return text;
}

struct SimulatedMessagesTally {
  int latencies = 0;
  int in_order = 0;  // of them: by eq. 39
  int reached = 0;
};

void expect_kept(const std::optional<nanoseconds>& bound, const sim::Distribution& observed,
                 const std::string& what) {
  if (bound && observed.count > 0) {
    EXPECT_LE(observed.max, *bound) << what;
  }
}

void hold_bursts(const ScenarioReport& report, const sim::Result& run,
                 SimulatedMessagesTally& tally) {
  for (std::size_t i = 0; i < report.callbacks.size(); ++i) {
    const CallbackReport& callback = report.callbacks[i];
    expect_kept(callback.response, run.callbacks[i].response,
                callback.name + " by " + callback.bound_by);
  }
  const ChainReport& chain = report.chains.front();
  expect_kept(chain.latency, run.chains.front().latency, "latency by " + chain.bound_by);
  expect_kept(chain.reaction, run.chains.front().reaction, "reaction by " + chain.bound_by);
  expect_kept(chain.age, run.chains.front().age, "age by " + chain.bound_by);
  if (chain.latency && run.chains.front().latency.count > 0) {
    ++tally.latencies;
    const bool in_order = chain.bound_by.ends_with("eq. 17 and 39");
    tally.in_order += in_order ? 1 : 0;
    tally.reached += in_order && run.chains.front().latency.max == *chain.latency ? 1 : 0;
  }
}

class EveryBurstSimulated : public testing::TestWithParam<std::string> {};

TEST_P(EveryBurstSimulated, is_within_its_bounds) {
  SimulatedMessagesTally tally;
  const int sets = rounds(150);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const application::Application app = RandomBursts{seed}.make(GetParam());
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + words_of_bursts(app));
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      hold_bursts(report,
                  sim::simulate(app, {.duration = nanoseconds{12'000},
                                      .seed = seed,
                                      .execution = execution,
                                      .percentiles = false}),
                  tally);
    }
  }
  EXPECT_GT(tally.latencies, sets);
  EXPECT_GT(tally.in_order, sets / 5);
  EXPECT_GT(tally.reached, 0);
  std::cout << sets << " sets, " << tally.latencies << " latencies, " << tally.in_order
            << " by the order of messages, " << tally.reached << " of them reached\n";
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryBurstSimulated,
                         testing::Values("fp", "edf", "np-fp", "np-edf"), test::policy_name);

}  // namespace
}  // namespace takt::analysis
