// SPDX-License-Identifier: Apache-2.0
//
// Random applications with joins, in few ticks so that much happens at the same time, and what is
// counted of their runs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../analysis/random_tasks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {

class RandomJoins : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  application::Application make(const std::string& policy) {
    application::Application app{.name = "random", .policy = policy};
    app.cpus.clear();
    const std::int64_t cores = policy.starts_with("rclcpp") ? 1 : number(1, 3);
    for (int cpu = 0; cpu < cores; ++cpu) {
      app.cpus.push_back(cpu);
    }
    alike_ = chance(0.4);
    lags_ = chance(0.2);
    losses_ = chance(0.2);
    any_offsets_ = chance(0.3);
    bursts_ = chance(0.2);
    for (std::int64_t i = number(2, 4); i > 0; --i) {
      add_timer(app, "");
    }
    for (std::int64_t i = number(1, 3); i > 0; --i) {
      add_join(app, number(2, 3));
      if (chance(0.5)) {
        add_reader(app);
      }
    }
    add_reader(app);
    if (chance(0.3)) {
      add_timer(app, paths_.back().topic);
    }
    if (chance(0.15)) {
      app.overheads = one_tick_each();
    }
    return app;
  }

 private:
  static constexpr std::int64_t any_age = 100'000;  // nothing is released early to keep it

  // How data comes to a topic.
  struct Way {
    std::string topic;
    std::vector<std::string> callbacks;
  };

  application::Callback& add(application::Application& app) {
    application::Callback& callback = app.callbacks.emplace_back();
    sched::Task& task = callback.task;
    task.name = callback.node = "c" + std::to_string(app.callbacks.size() - 1);
    const std::int64_t worst = number(1, 3);
    callback.execution = {.best = nanoseconds{chance(0.5) ? number(0, worst) : worst},
                          .worst = nanoseconds{worst}};
    callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
    callback.jitter = nanoseconds{lags_ && chance(0.3) ? number(1, 10) : 0};
    task.parameters = {
        .deadline = nanoseconds{number(worst, 200)},
        .priority = static_cast<int>(number(1, 12)),
        .expected_execution = callback.execution.worst,
        .overrun = losses_ && chance(0.4) ? sched::Overrun::skip : sched::Overrun::catch_up};
    task.cpu = app.cpus[static_cast<std::size_t>(
        number(0, static_cast<std::int64_t>(app.cpus.size()) - 1))];
    return callback;
  }

  std::string add_topic(application::Application& app) {
    const std::string topic = "t" + std::to_string(app.topics.size());
    app.topics.push_back({.name = topic, .depth = static_cast<std::size_t>(number(1, 4))});
    return topic;
  }

  void add_timer(application::Application& app, const std::string& reads) {
    constexpr std::array<std::int64_t, 5> periods = {24, 40, 60, 80, 120};
    application::Callback& callback = add(app);
    const std::int64_t period = alike_ ? 60 : periods[static_cast<std::size_t>(number(0, 4))];
    callback.task.parameters.period = nanoseconds{period};
    callback.task.any_offset = any_offsets_ && chance(0.6);
    callback.task.parameters.offset =
        nanoseconds{!callback.task.any_offset && chance(0.5) ? number(0, period) : 0};
    Way way{.topic = {}, .callbacks = {}};
    if (!reads.empty()) {
      callback.task.reads = {{.topic = reads, .max_age = nanoseconds{any_age}}};
      way.callbacks = paths_.back().callbacks;
    }
    end(app, way);
  }

  // The last callback goes on with the way.
  void end(application::Application& app, Way way) {
    way.callbacks.push_back(app.callbacks.back().task.name);
    way.topic = add_topic(app);
    app.callbacks.back().task.writes = {way.topic};
    if (bursts_ && chance(0.3)) {
      app.callbacks.back().messages[way.topic] = {.least = number(1, 2), .most = 2};
    }
    app.chains.push_back(
        {.name = "chain" + std::to_string(app.chains.size()), .callbacks = way.callbacks});
    paths_.push_back(std::move(way));
  }

  void add_reader(application::Application& app) {
    const Way& way = chance(0.7) ? paths_.back() : any_way();
    application::Callback& callback = add(app);
    callback.task.kind = sched::TaskKind::message;
    callback.task.trigger = way.topic;
    end(app, way);
  }

  const Way& any_way() {
    return paths_[static_cast<std::size_t>(
        number(0, static_cast<std::int64_t>(paths_.size()) - 1))];
  }

  void add_join(application::Application& app, std::int64_t inputs) {
    const std::string topic = add_topic(app);
    const std::string node = "n" + std::to_string(app.callbacks.size());
    const std::int64_t messages = bursts_ && chance(0.3) ? 2 : 1;
    std::vector<Way> ways;
    for (std::int64_t i = 0; i < inputs; ++i) {
      const Way way = any_way();
      application::Callback& callback = add(app);
      callback.task.kind = sched::TaskKind::message;
      callback.task.trigger = way.topic;
      callback.node = node;
      callback.join = "all";
      callback.task.writes = {topic};
      callback.messages[topic] = {.least = messages, .most = messages};
      ways.push_back(way);
      ways.back().callbacks.push_back(callback.task.name);
      ways.back().topic = topic;
    }
    for (Way& way : ways) {
      app.chains.push_back(
          {.name = "chain" + std::to_string(app.chains.size()), .callbacks = way.callbacks});
    }
    paths_.push_back(ways[static_cast<std::size_t>(number(0, inputs - 1))]);
  }

  std::vector<Way> paths_;
  bool alike_ = false;  // all timers have the same period
  bool lags_ = false;
  bool losses_ = false;
  bool any_offsets_ = false;
  bool bursts_ = false;
};

struct Tally {
  int accepted = 0;
  int responses = 0;
  int latencies = 0;  // through a join
  int busy = 0;       // of these by busy periods of a core
  int reactions = 0;
  int ages = 0;
  int read = 0;          // ages of what a timer reads behind a join
  int read_busy = 0;     // of these by busy periods of a core
  double read_of = 0;    // sum of the oldest data read by its bound
  double tightness = 0;  // sum of the largest latency by its bound
};

inline void expect_within(const std::optional<nanoseconds>& bound,
                          const sim::Distribution& observed, const std::string& what) {
  if (bound && observed.count > 0) {
    EXPECT_LE(observed.max, *bound) << what;
  }
}

inline void compare_ages(const ScenarioReport& report, const sim::Result& run, Tally& tally) {
  for (const AgeReport& age : report.ages) {
    const auto found = std::ranges::find(run.callbacks, age.callback, &sim::CallbackResult::name);
    expect_within(age.age, found->sample_age, age.callback + " reads by " + age.bound_by);
    if (age.age && found->sample_age.count > 0 && age.bound_by.ends_with("eq. 24")) {
      ++tally.read;
      tally.read_busy += age.bound_by.starts_with("longest busy") ? 1 : 0;
      tally.read_of += static_cast<double>(found->sample_age.max.count()) /
                       static_cast<double>(age.age->count());
    }
  }
}

inline void compare(const ScenarioReport& report, const sim::Result& run, Tally& tally) {
  for (std::size_t i = 0; i < report.callbacks.size(); ++i) {
    const CallbackReport& callback = report.callbacks[i];
    tally.responses += callback.response ? 1 : 0;
    const auto found = std::ranges::find(run.callbacks, callback.name, &sim::CallbackResult::name);
    expect_within(callback.response, found->response, callback.name + " by " + callback.bound_by);
    if (callback.verdict == Verdict::meets) {
      EXPECT_EQ(found->misses, 0U) << callback.name << " by " << callback.bound_by;
    }
  }
  for (std::size_t i = 0; i < report.chains.size(); ++i) {
    const ChainReport& chain = report.chains[i];
    const sim::ChainResult& observed = run.chains[i];
    expect_within(chain.latency, observed.latency, chain.name + " latency by " + chain.bound_by);
    expect_within(chain.reaction, observed.reaction, chain.name + " reaction by " + chain.bound_by);
    expect_within(chain.age, observed.age, chain.name + " age by " + chain.bound_by);
    if (chain.latency && observed.latency.count > 0 &&
        chain.bound_by.find("of a join") != std::string::npos) {
      tally.busy += chain.bound_by.find("eq. 22") != std::string::npos ? 1 : 0;
      ++tally.latencies;
      tally.reactions += chain.reaction ? 1 : 0;
      tally.ages += chain.age ? 1 : 0;
      tally.tightness += static_cast<double>(observed.latency.max.count()) /
                         static_cast<double>(chain.latency->count());
    }
  }
  compare_ages(report, run, tally);
}

inline std::string describe(const application::Application& app) {
  std::string text;
  for (const application::Callback& callback : app.callbacks) {
    const sched::Task& task = callback.task;
    text += task.name + " " + callback.node + " core " + std::to_string(task.cpu) + " T " +
            std::to_string(task.parameters.period.count()) + " O " +
            std::to_string(task.parameters.offset.count()) + " C " +
            std::to_string(callback.execution.best.count()) + ".." +
            std::to_string(callback.execution.worst.count()) + " J " +
            std::to_string(callback.jitter.count()) + " P " +
            std::to_string(task.parameters.priority) + " on " + task.trigger + " reads " +
            (task.reads.empty() ? "" : task.reads[0].topic) + " writes " + task.writes[0] + " " +
            std::to_string(callback.messages_on(task.writes[0]).most) + " join " + callback.join +
            " overrun " + std::to_string(static_cast<int>(task.parameters.overrun)) + "\n";
  }
  for (const application::Chain& chain : app.chains) {
    text += chain.name + ":";
    for (const std::string& name : chain.callbacks) {
      text += " " + name;
    }
    text += "\n";
  }
  return text;
}

}  // namespace takt::analysis
