// SPDX-License-Identifier: Apache-2.0
//
// Random chains on one to three cores, in few ticks so that much happens at the same time: no run
// is above its bound. By hand as exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "../policies.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

class RandomChains : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  application::Application make(const std::string& policy) {
    application::Application app{.name = "random", .policy = policy};
    const std::int64_t cores = number(1, 3);
    app.cpus.clear();
    for (int cpu = 0; cpu < cores; ++cpu) {
      app.cpus.push_back(cpu);
    }
    const std::int64_t chains = number(1, 4);
    idles_ = policy == "p-rm" || policy == "cw-edf";
    rising_ = chance(0.3);
    lags_ = chance(0.2);
    groups_ = chance(0.15);
    losses_ = chance(0.3);
    joins_ = chance(0.15);
    bursts_ = chance(0.35);
    anywhere_ = chance(0.5);
    for (std::int64_t i = 0; i < chains; ++i) {
      add_chain(app, number(1, 6));
    }
    if (chance(0.15)) {
      app.overheads = one_tick_each();
    }
    return app;
  }

 private:
  void add_chain(application::Application& app, std::int64_t length) {
    constexpr std::array<std::int64_t, 6> periods = {12, 20, 30, 40, 45, 60};
    const std::int64_t period = periods[static_cast<std::size_t>(number(0, 5))];
    application::Chain chain{.name = "chain" + std::to_string(app.chains.size())};
    std::string topic;
    const auto others = static_cast<std::int64_t>(app.topics.size());
    for (std::int64_t i = 0; i < length; ++i) {
      application::Callback callback = draw(app, period, i);
      if (i > 0) {
        callback.task.kind = sched::TaskKind::message;
        callback.task.trigger = topic;
      }
      topic = "t" + std::to_string(app.callbacks.size());
      if (joins_ && !app.chains.empty() && chance(0.2)) {  // of a chain before
        callback.task.writes.push_back(
            app.topics[static_cast<std::size_t>(number(0, others - 1))].name);
      }
      app.topics.push_back(
          {.name = topic, .depth = static_cast<std::size_t>(number(1, bursts_ ? 12 : 4))});
      callback.task.writes.push_back(topic);
      if (bursts_ && chance(0.35)) {
        const std::int64_t most = number(2, 4);
        callback.messages[topic] = {.least = chance(0.5) ? number(1, most) : most, .most = most};
      }
      chain.callbacks.push_back(callback.task.name);
      app.callbacks.push_back(std::move(callback));
      if (i > 0 && chance(0.1)) {
        add_branch(app, period, i);
      }
    }
    if (length > 1) {
      app.chains.push_back(chain);
    }
  }

  application::Callback draw(const application::Application& app, std::int64_t period,
                             std::int64_t place) {
    application::Callback callback;
    sched::Task& task = callback.task;
    task.name = callback.node = "c" + std::to_string(app.callbacks.size());
    const std::int64_t worst = number(1, std::max<std::int64_t>(1, period / (bursts_ ? 20 : 8)));
    callback.execution = {.best = nanoseconds{chance(0.5) ? number(0, worst) : worst},
                          .worst = nanoseconds{worst}};
    callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
    callback.publishes_anywhere = anywhere_ && chance(0.6);
    callback.jitter = nanoseconds{lags_ && chance(place == 0 ? 0.5 : 0.1) ? number(1, 10) : 0};
    task.parameters = {
        .period = nanoseconds{period},
        .offset = nanoseconds{place == 0 && chance(0.5) ? number(0, period) : 0},
        .deadline = nanoseconds{chance(0.5) ? 0 : number(worst, (idles_ ? 1 : 3) * period)},
        .priority = static_cast<int>(rising_ ? place * 4 + number(1, 4) : number(1, 12)),
        .expected_execution = callback.execution.worst,
        .overrun = sched::Overrun::catch_up};
    if (losses_ && chance(0.3)) {
      task.parameters.overrun = chance(0.5) ? sched::Overrun::skip : sched::Overrun::queue_one;
    }
    task.cpu = app.cpus[static_cast<std::size_t>(
        number(0, static_cast<std::int64_t>(app.cpus.size()) - 1))];
    if (groups_ && task.cpu == 0 && chance(0.5)) {
      task.group = "g";
    }
    return callback;
  }

  // Released by the last callback, too.
  void add_branch(application::Application& app, std::int64_t period, std::int64_t place) {
    application::Callback branch = draw(app, period, place);
    branch.task.kind = sched::TaskKind::message;
    branch.task.trigger = app.topics.back().name;
    app.callbacks.push_back(std::move(branch));
    app.topics.push_back({.name = "t" + std::to_string(app.callbacks.size() - 1)});
    app.callbacks.back().task.writes.push_back(app.topics.back().name);
    // The chain goes on from the callback before: its topic comes last again.
    std::swap(app.topics[app.topics.size() - 1], app.topics[app.topics.size() - 2]);
  }

  bool idles_ = false;  // the policy, on purpose: no deadline is above its period
  bool rising_ = false;
  bool lags_ = false;
  bool groups_ = false;
  bool losses_ = false;
  bool joins_ = false;
  bool anywhere_ = false;  // jobs that publish before they end
  bool bursts_ = false;    // jobs that publish several messages at once
};

std::string describe(const application::Application& app) {
  std::string text = "policy " + app.policy + (app.overheads.any() ? ", overheads\n" : "\n");
  for (const application::Callback& callback : app.callbacks) {
    const sched::Task& task = callback.task;
    const auto number = [](auto time) { return std::to_string(time.count()) + " "; };
    text += task.name + " core " + std::to_string(task.cpu) + " T " +
            number(task.parameters.period) + "O " + number(task.parameters.offset) + "D " +
            number(task.parameters.deadline) + "C " + number(callback.execution.best) + ".. " +
            number(callback.execution.worst) + "J " + number(callback.jitter) + "P " +
            std::to_string(task.parameters.priority) + " " + task.group + " " + task.trigger +
            (callback.publishes_anywhere ? " publishes anywhere" : "") + " overrun " +
            std::to_string(static_cast<int>(task.parameters.overrun));
    for (const std::string& topic : task.writes) {
      text += " writes " + std::to_string(callback.messages_on(topic).most) + " to " + topic;
    }
    text += "\n";
  }
  for (const application::Topic& topic : app.topics) {
    text += topic.name + " depth " + std::to_string(topic.depth) + ", ";
  }
  return text;
}

struct SimulatedChainTally {
  int accepted = 0;
  int responses = 0;
  int latencies = 0;
  int reached = 0;
  int units = 0;
  int paths = 0;
  int bursts = 0;  // latencies in applications with bursts
};

void expect_within(const std::optional<nanoseconds>& bound, const sim::Distribution& observed,
                   const std::string& what) {
  if (bound && observed.count > 0) {
    EXPECT_LE(observed.max, *bound) << what;
  }
}

void compare(const application::Application& app, const ScenarioReport& report,
             const sim::Result& run, SimulatedChainTally& tally) {
  const bool bursts = std::ranges::any_of(app.callbacks, [](const application::Callback& callback) {
    return !callback.messages.empty();
  });
  for (std::size_t i = 0; i < report.callbacks.size(); ++i) {
    const CallbackReport& callback = report.callbacks[i];
    tally.responses += callback.response ? 1 : 0;
    expect_within(callback.response, run.callbacks[i].response,
                  callback.name + " by " + callback.bound_by);
    if (callback.verdict == Verdict::meets) {
      EXPECT_EQ(run.callbacks[i].misses, 0U) << callback.name << " by " << callback.bound_by;
    }
  }
  for (std::size_t i = 0; i < report.chains.size(); ++i) {
    const ChainReport& chain = report.chains[i];
    expect_within(chain.latency, run.chains[i].latency, "latency by " + chain.bound_by);
    expect_within(chain.reaction, run.chains[i].reaction, "reaction by " + chain.bound_by);
    expect_within(chain.age, run.chains[i].age, "age by " + chain.bound_by);
    if (chain.latency && run.chains[i].latency.count > 0) {
      ++tally.latencies;
      tally.bursts += bursts ? 1 : 0;
      tally.reached += run.chains[i].latency.max == *chain.latency ? 1 : 0;
      tally.units += chain.bound_by.starts_with("chain on one core") ? 1 : 0;
      tally.paths += chain.bound_by.starts_with("path analysis") ? 1 : 0;
    }
  }
}

class EveryChainSimulated : public testing::TestWithParam<std::string> {};

TEST_P(EveryChainSimulated, is_within_its_bounds) {
  SimulatedChainTally tally;
  // Of these the tests of the same order without idling see most.
  const bool idles =
      std::string_view{GetParam()} == "p-rm" || std::string_view{GetParam()} == "cw-edf";
  const int sets = rounds(idles ? 50 : 300);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const application::Application app = RandomChains{seed}.make(GetParam());
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + describe(app));
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    tally.accepted += report.deadlines == Verdict::meets ? 1 : 0;
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      compare(app, report,
              sim::simulate(app, {.duration = nanoseconds{3000},
                                  .seed = seed,
                                  .execution = execution,
                                  .percentiles = false}),
              tally);
    }
  }
  EXPECT_GT(tally.accepted, sets / 10);
  EXPECT_GT(tally.responses, sets * 3);
  EXPECT_GT(tally.latencies, sets / 2);
  EXPECT_GT(tally.units, sets / 20);
  if (sets >= 50) {  // a few sets may have none
    EXPECT_GT(tally.paths, sets / 20);
    EXPECT_GT(tally.bursts, sets / 10);
  }
  std::cout << sets << " sets, " << tally.accepted << " accepted, " << tally.responses
            << " responses, " << tally.latencies << " latencies: " << tally.bursts
            << " with bursts, " << tally.units << " of units, " << tally.paths << " of paths, "
            << tally.reached << " reached\n";
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryChainSimulated,
                         testing::Values("fp", "edf", "np-fp", "np-edf", "p-rm", "cw-edf"),
                         test::policy_name);

}  // namespace
}  // namespace takt::analysis
