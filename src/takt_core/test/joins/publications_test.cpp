// SPDX-License-Identifier: Apache-2.0
//
// How densely joins publish: in simulations with late timers never more than their arrival curve
// allows, and often as much. Each callback has a core of its own, so that nothing else bounds it.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "../analysis/random_tasks.hpp"
#include "sim/schedule.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"

namespace takt::sim {
namespace {

class LateTimers : public analysis::RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  application::Application make() {
    constexpr std::array<std::int64_t, 4> periods = {10, 20, 30, 45};
    const bool alike = chance(0.4);
    const std::int64_t inputs = number(2, 3);
    std::vector<Task> tasks;
    std::vector<nanoseconds> late;
    for (std::int64_t i = 0; i < inputs; ++i) {
      const std::int64_t period = alike ? 20 : periods[static_cast<std::size_t>(number(0, 3))];
      Task source = timer("s" + std::to_string(i), nanoseconds{period}, 1ns, 10);
      source.parameters.offset = nanoseconds{number(0, period)};
      source.writes = {"in" + std::to_string(i)};
      late.emplace_back(chance(0.7) ? number(0, 2 * period) : 0);
      tasks.push_back(source);
    }
    for (std::int64_t i = 0; i < inputs; ++i) {
      Task input = sched::message("n.i" + std::to_string(i), "in" + std::to_string(i), 10);
      input.parameters.expected_execution = nanoseconds{number(1, 5)};
      input.writes = {"out"};
      tasks.push_back(input);
    }
    Task reader = sched::message("reader", "out", 10);
    reader.parameters.expected_execution = 1ns;
    tasks.push_back(reader);
    application::Application app{.name = "late", .policy = "fp"};
    app.cpus.clear();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].cpu = static_cast<int>(i);
      tasks[i].parameters.deadline = 1000ns;
      tasks[i].parameters.overrun = sched::Overrun::catch_up;
      app.cpus.push_back(static_cast<int>(i));
      const nanoseconds worst = tasks[i].parameters.expected_execution;
      application::Callback callback{
          .task = tasks[i], .execution = {.best = 1ns, .worst = worst, .quantiles = {1ns, worst}}};
      if (i < late.size()) {
        callback.jitter = late[i];
      }
      if (tasks[i].writes == std::vector<std::string>{"out"}) {
        callback.node = "n";
        callback.join = "all";
      }
      app.callbacks.push_back(callback);
    }
    for (const char* topic : {"in0", "in1", "in2", "out"}) {
      app.topics.push_back({.name = topic, .depth = 100});
    }
    return app;
  }
};

TEST(Publications, are_never_closer_than_their_arrival_curve) {
  int compared = 0;
  int reached = 0;
  const int sets = analysis::rounds(400);
  for (int set = 0; set < sets && !testing::Test::HasFailure(); ++set) {
    const std::uint64_t seed = analysis::first_seed() + static_cast<std::uint64_t>(set);
    const application::Application app = LateTimers{seed}.make();
    const sched::CompiledStrategy strategy = application::compile(app);
    analysis::ScenarioModel model{app, strategy, strategy.scenarios().front()};
    analysis::Effort effort;
    const analysis::ScenarioBounds bounds = model.solve(effort, analysis::Graphs::none);
    const std::vector<analysis::Arrivals> curves = model.publications(0, bounds);
    ASSERT_EQ(curves.size(), 1U);
    const analysis::Arrivals& curve = curves.front();
    if (curve.period.count() == 0) {
      continue;
    }
    ++compared;
    const Schedule run =
        sim::schedule(app, 2000ns, {.seed = seed, .execution = sim::ExecutionTimes::drawn});
    std::vector<nanoseconds> times;
    for (const auto& [id, release] : run.releases) {
      if (id.first + 1 == app.callbacks.size()) {
        times.push_back(release.time_since_epoch());
      }
    }
    std::ranges::sort(times);
    ASSERT_FALSE(times.empty());
    bool full = false;
    for (std::size_t first = 0; first < times.size(); ++first) {
      for (std::size_t last = first; last < times.size(); ++last) {
        const auto count = static_cast<std::int64_t>(last - first + 1);
        const std::int64_t most = curve.closed(times[last] - times[first]);
        EXPECT_LE(count, most) << "seed " << seed << ", from " << times[first].count() << " to "
                               << times[last].count();
        full = full || (count == most && count > 1);
      }
    }
    reached += full ? 1 : 0;
  }
  std::cout << compared << " of " << sets << " compared, " << reached << " reached their curve\n";
  EXPECT_GT(compared, sets / 2);
  EXPECT_GT(reached, sets / 20);
}

}  // namespace
}  // namespace takt::sim
