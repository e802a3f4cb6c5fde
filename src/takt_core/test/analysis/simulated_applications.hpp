// SPDX-License-Identifier: Apache-2.0
//
// Random applications of everything that an app.yaml can say, and what is simulated of them beside
// what is proved.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {

using namespace std::chrono_literals;

class RandomApplication {
 public:
  explicit RandomApplication(std::uint64_t seed) : engine_(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution{least, most}(engine_);
  }
  bool chance(double share) { return std::bernoulli_distribution{share}(engine_); }

  application::Application make() {
    application::Application app{.name = "random"};
    constexpr std::array policies = {"fp", "np-fp", "edf", "np-edf", "rm", "p-rm", "cw-edf"};
    app.policy = policies[static_cast<std::size_t>(number(0, 6))];
    const bool idles = app.policy == "p-rm" || app.policy == "cw-edf";
    if (chance(0.4)) {
      app.cpus = {0, 1};
    }
    const bool lags = chance(0.3);
    const bool groups = chance(0.4);
    bursts_ = chance(0.3);
    const std::int64_t timers = number(2, 5);
    for (std::int64_t i = 0; i < timers; ++i) {
      add(app, true, lags, groups);
    }
    for (std::int64_t i = idles && chance(0.8) ? 0 : number(0, 3); i > 0; --i) {
      add(app, false, lags, groups);
    }
    for (application::Callback& callback : app.callbacks) {
      sched::TaskParameters& parameters = callback.task.parameters;
      if (idles && callback.task.kind == sched::TaskKind::timer) {
        parameters.deadline = std::min(parameters.deadline, parameters.period);
      }
    }
    add_chain(app);
    if (chance(0.25)) {
      app.overheads = {
          .dispatch = 3us, .preemption = 2us, .release = 1us, .publish = 2us, .deliver = 1us};
    }
    const bool anywhere = chance(0.4);
    for (application::Callback& callback : app.callbacks) {
      callback.publishes_anywhere = anywhere && chance(0.6);
    }
    return app;
  }

 private:
  void add(application::Application& app, bool timer, bool lags, bool groups) {
    constexpr std::array<std::int64_t, 7> periods = {1000, 2000, 2500, 4000, 5000, 8000, 10'000};
    const std::size_t index = app.callbacks.size();
    application::Callback callback;
    sched::Task& task = callback.task;
    task.name = "c" + std::to_string(index);
    callback.node = task.name;
    const std::int64_t period = periods[static_cast<std::size_t>(number(0, 6))];
    const std::int64_t worst = number(10, timer ? period / 4 : 200);
    callback.execution = {.best = nanoseconds{1000 * number(worst / 3, worst)},
                          .worst = nanoseconds{1000 * worst}};
    callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
    task.parameters.expected_execution = callback.execution.worst;
    task.parameters.priority = static_cast<int>(number(1, 8));
    task.parameters.overrun = chance(0.5) ? sched::Overrun::catch_up : sched::Overrun::skip;
    if (timer && chance(0.2)) {
      task.parameters.overrun = sched::Overrun::queue_one;
    }
    if (timer) {
      task.parameters.period = nanoseconds{1000 * period};
      task.parameters.offset = nanoseconds{chance(0.5) ? 0 : 1000 * number(0, period)};
      if (chance(0.4)) {
        task.parameters.deadline =
            nanoseconds{1000 * std::max(worst, number(period / 2, 3 * period / 2))};
      }
    } else {
      task.kind = sched::TaskKind::message;
      task.trigger = app.topics[static_cast<std::size_t>(
                                    number(0, static_cast<std::int64_t>(app.topics.size()) - 1))]
                         .name;
      task.parameters.deadline = nanoseconds{1000 * number(1000, 10'000)};
      // Only what catches up handles each message by a job of its own.
      task.parameters.overrun = sched::Overrun::catch_up;
    }
    if (lags && chance(0.5)) {
      callback.jitter = nanoseconds{1000 * number(0, 100)};
    }
    if (groups && chance(0.5)) {
      task.group = "g";
      task.cpu = 0;
    }
    if (timer && index > 0 && chance(0.5)) {
      sched::Read read{
          .topic =
              app.topics[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(index) - 1))]
                  .name};
      if (chance(0.4)) {
        read.max_age = nanoseconds{1000 * number(3000, 40'000)};
      }
      task.reads.push_back(read);
    }
    const std::string topic = "t" + std::to_string(index);
    app.topics.push_back({.name = topic, .depth = 16});
    task.writes.push_back(topic);
    if (bursts_ && chance(0.5)) {
      const std::int64_t most = number(2, 4);
      callback.messages[topic] = {.least = chance(0.5) ? number(1, most) : most, .most = most};
      app.topics.back().depth = static_cast<std::size_t>(number(1, 16));
    }
    app.callbacks.push_back(std::move(callback));
  }

  // The longest way from the last callback that reads something upstream.
  static void add_chain(application::Application& app) {
    application::Chain chain{.name = "chain"};
    for (std::size_t i = app.callbacks.size(); i-- > 0;) {
      std::string name = app.callbacks[i].task.name;
      while (true) {
        chain.callbacks.insert(chain.callbacks.begin(), name);
        const auto found = std::ranges::find(
            app.callbacks, name,
            [](const application::Callback& callback) { return callback.task.name; });
        const sched::Task& task = found->task;
        std::string topic = task.trigger;
        if (topic.empty() && !task.reads.empty()) {
          topic = task.reads.front().topic;
        }
        if (topic.empty()) {
          break;
        }
        name = "c" + topic.substr(1);
      }
      if (chain.callbacks.size() > 1) {
        app.chains.push_back(chain);
        return;
      }
      chain.callbacks.clear();
    }
  }

  std::mt19937_64 engine_;
  bool bursts_ = false;  // jobs that publish several messages at once
};

inline std::string describe(const application::Application& app) {
  std::string text = "policy " + app.policy + ", cores " + std::to_string(app.cpus.size());
  text += app.overheads.any() ? ", overheads\n" : "\n";
  for (const application::Callback& callback : app.callbacks) {
    const sched::Task& task = callback.task;
    const auto us = [](nanoseconds time) { return std::to_string(time.count() / 1000) + " "; };
    text += task.name + " T " + us(task.parameters.period) + "O " + us(task.parameters.offset) +
            "D " + us(task.parameters.deadline) + "C " + us(callback.execution.best) + ".. " +
            us(callback.execution.worst) + "J " + us(callback.jitter) + "P " +
            std::to_string(task.parameters.priority) + " " + task.group + " trigger " +
            task.trigger;
    for (const sched::Read& read : task.reads) {
      text += " reads " + read.topic + " " + us(read.max_age);
    }
    for (const auto& [topic, messages] : callback.messages) {
      text += " messages " + std::to_string(messages.least) + " to " +
              std::to_string(messages.most) + ", depth " +
              std::to_string(app.find_topic(topic)->depth);
    }
    text += task.parameters.overrun == sched::Overrun::skip ? " skip\n" : "\n";
  }
  for (const application::Core& core : app.cores) {
    const application::Supply supply = core.supply.value_or(application::Supply{});
    text += "core " + std::to_string(core.cpu) + " supply " +
            std::to_string(supply.budget.count()) + " in " + std::to_string(supply.period.count()) +
            " rate " + std::to_string(supply.rate) + " delay " +
            std::to_string(supply.delay.count()) + " latency " +
            std::to_string(core.latency.count()) + "\n";
    for (const application::Interrupts& source : core.interrupts) {
      text += "  interrupts " + std::to_string(source.duration.count()) + " in " +
              std::to_string(source.period.count()) + " burst " + std::to_string(source.burst) +
              "\n";
    }
  }
  return text;
}

struct Tally {
  int bursts = 0;  // bounded callbacks in applications with bursts
  int accepted = 0;
  int bounded = 0;
  int chains = 0;
  int ages = 0;
  int reached = 0;   // responses that equal their bounds
  int explored = 0;  // accepted by their schedule graphs
};

inline void compare(const application::Application& app, const Report& report,
                    const sim::Result& simulated, Tally& tally) {
  const ScenarioReport& scenario = report.scenarios.front();
  if (scenario.deadlines == Verdict::meets) {
    ++tally.accepted;
    tally.explored += scenario.cores.front().bound_by.starts_with("schedule graph") ? 1 : 0;
    for (const sim::CallbackResult& callback : simulated.callbacks) {
      EXPECT_EQ(callback.misses, 0U) << callback.name;
    }
  }
  for (const CallbackReport& callback : scenario.callbacks) {
    const auto found =
        std::ranges::find(simulated.callbacks, callback.name, &sim::CallbackResult::name);
    if (!callback.response || found->response.count == 0) {
      continue;
    }
    ++tally.bounded;
    tally.bursts +=
        std::ranges::any_of(app.callbacks,
                            [](const application::Callback& one) { return !one.messages.empty(); })
            ? 1
            : 0;
    EXPECT_LE(found->response.max, *callback.response) << callback.name << " " << callback.bound_by;
    tally.reached += found->response.max == *callback.response ? 1 : 0;
    // A schedule graph's run need not be the one in which all jobs take their worst case.
    const bool in_graph = callback.bound_by.starts_with("schedule graph");
    if (callback.exact && !simulated.drawn && !in_graph) {
      EXPECT_EQ(found->response.max, *callback.response) << callback.name;
    }
  }
  for (std::size_t i = 0; i < scenario.chains.size(); ++i) {
    const ChainReport& bound = scenario.chains[i];
    const sim::ChainResult& chain = simulated.chains[i];
    if (bound.latency && chain.latency.count > 0) {
      ++tally.chains;
      EXPECT_LE(chain.latency.max, *bound.latency) << "latency";
    }
    if (bound.age && chain.age.count > 0) {
      EXPECT_LE(chain.age.max, *bound.age) << "age";
    }
    if (bound.reaction && chain.reaction.count > 0) {
      EXPECT_LE(chain.reaction.max, *bound.reaction) << "reaction";
    }
  }
  for (const AgeReport& age : scenario.ages) {
    const auto found =
        std::ranges::find(simulated.callbacks, age.callback, &sim::CallbackResult::name);
    const auto reader =
        std::ranges::find(app.callbacks, age.callback,
                          [](const application::Callback& callback) { return callback.task.name; });
    if (!age.age || found->data_age.count == 0 || reader->task.reads.size() > 1) {
      continue;
    }
    ++tally.ages;
    EXPECT_LE(found->data_age.max, *age.age) << age.callback << " " << age.bound_by;
  }
}

}  // namespace takt::analysis
