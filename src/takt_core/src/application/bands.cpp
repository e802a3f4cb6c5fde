// SPDX-License-Identifier: Apache-2.0
#include "takt/application/bands.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "kernel_scheduling.hpp"
#include "robot.hpp"
#include "robot_scenarios.hpp"
#include "takt/application/compile.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"
#include "threads.hpp"

namespace takt::application {
namespace {

constexpr int most_priority = 98;

Band band_of(const Application& robot, std::size_t number) {
  const Process& process = robot.processes[number];
  if (sched::stock_executor(process.policy) || !is_fifo(process)) {
    return {.least = process.priority,
            .most = process.priority,
            .priorities = std::vector<int>(robot.callbacks.size(), 0)};
  }
  const sched::CompiledStrategy strategy = compile_process(robot, number);
  const auto cores = strategy.cores();
  const auto own = std::ranges::find(cores, core_number(robot, process), &sched::Core::cpu);
  Band band{.least = process.priority,
            .most = process.priority + 1,
            .priorities = std::vector<int>(robot.callbacks.size(), 0)};
  if (own == cores.end()) {
    return band;
  }
  const sched::CompiledScenario& scenario = strategy.scenarios().front();
  const sched::Policy& policy = scenario.policy();
  if (!policy.preemptive()) {
    return band;
  }
  if (!policy.fixed_priority()) {
    band.most = band.least + static_cast<int>(strategy.depth(*own));
    return band;
  }
  const std::vector<int> levels = strategy.priorities(*own);
  const auto in = [&](const sched::CompiledScenario& one) {
    std::vector<int> priorities(robot.callbacks.size(), 0);
    for (std::size_t i = 0; i < robot.callbacks.size(); ++i) {
      if (robot.callbacks[i].process == number) {
        const auto level = std::ranges::lower_bound(
            levels, one.parameters(static_cast<sched::TaskIndex>(i)).priority);
        priorities[i] = band.least + static_cast<int>(level - levels.begin());
      }
    }
    return priorities;
  };
  band.priorities = in(strategy.scenarios()[strategy.default_scenario()]);
  if (robot.strategy) {
    std::ranges::transform(strategy.scenarios(), std::back_inserter(band.in_scenarios), in);
  }
  band.most = band.least + static_cast<int>(levels.size());
  return band;
}

std::string needs(const Band& band) {
  return "its threads need the priorities " + std::to_string(band.least) + " to " +
         std::to_string(band.most);
}

}  // namespace

std::optional<sched::SchedulingStrategy> scenarios_of_process(const Application& robot,
                                                              std::size_t process,
                                                              const Band& band) {
  return scenarios_of(robot, process, band.in_scenarios);
}

std::vector<Band> bands_of(const Application& robot) {
  const Application all = with_threads(robot);
  static_cast<void>(compile(all));  // refuses what no executor accepts
  std::vector<Band> bands;
  for (std::size_t i = 0; i < all.processes.size(); ++i) {
    const Band& band = bands.emplace_back(band_of(all, i));
    if (band.most > most_priority) {
      throw sched::ScheduleError(
          place_text(all.processes[i]),
          needs(band) + ", and the highest is " + std::to_string(most_priority),
          "give it a priority of at most " +
              std::to_string(most_priority - (band.most - band.least)));
    }
  }
  for (std::size_t i = 0; i < bands.size(); ++i) {
    for (std::size_t above = 0; above < bands.size(); ++above) {
      const Process& lower = all.processes[i];
      const Process& upper = all.processes[above];
      if (is_fifo(lower) && is_fifo(upper) && runs_before(upper, lower) &&
          bands[i].most >= bands[above].least) {
        throw sched::ScheduleError(
            place_text(lower),
            needs(bands[i]) + ", and " + place_text(upper) + " on its core begins at " +
                std::to_string(bands[above].least),
            "give them priorities that are at least " +
                std::to_string(bands[i].most - bands[i].least + 1) + " apart");
      }
    }
  }
  std::vector<Band> result{bands.begin(),
                           bands.begin() + static_cast<std::ptrdiff_t>(robot.processes.size())};
  for (Band& band : result) {
    band.priorities.resize(robot.callbacks.size());
    for (std::vector<int>& priorities : band.in_scenarios) {
      priorities.resize(robot.callbacks.size());
    }
  }
  for (std::size_t i = 0; i < robot.callbacks.size(); ++i) {  // on whichever core of its process
    Band& band = result[robot.callbacks[i].process];
    const Band& own = bands[all.callbacks[i].process];
    band.priorities[i] = own.priorities[i];
    for (std::size_t number = 0; number < band.in_scenarios.size(); ++number) {
      band.in_scenarios[number][i] = own.in_scenarios[number][i];
    }
  }
  return result;
}

}  // namespace takt::application
