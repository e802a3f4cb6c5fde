// SPDX-License-Identifier: Apache-2.0
//
// Scenarios: a robot that cruises watches its camera more than its docking sensor; once the dock is
// near, the callback that sees it switches to another table of periods and priorities.
// Usage: docking [trace file]
#include <cstdio>
#include <takt/rcl/scheduling_executor.hpp>

#include "work.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  const takt::Context context{argc, argv};
  const takt::Node node{context, "robot"};
  takt::SchedulingExecutor executor{{.trace = trace_argument(context)}};

  int distance_cm = 30;
  const auto camera = node.create_timer(20ms, [] { compute_for(1ms); });
  const auto dock_sensor = node.create_timer(50ms, [&] {
    distance_cm -= 5;
    std::printf("%s: %d cm\n", std::string{executor.scenario()}.c_str(), distance_cm);
    if (distance_cm == 15 && !executor.switch_to("docking")) std::puts("no such scenario");
    if (distance_cm == 0) executor.request_stop();
  });
  executor.add(camera, {.name = "camera"});
  executor.add(dock_sensor, {.name = "dock sensor"});

  takt::SchedulingScenario cruising{"cruising"};
  cruising.add_timer("camera", 90, 20ms);
  cruising.add_timer("dock sensor", 30, 50ms);
  cruising.set_scheduling_policy(takt::fixed_priority());
  takt::SchedulingScenario docking{"docking"};
  docking.add_timer("camera", 20, 100ms);
  docking.add_timer("dock sensor", 95, 10ms);
  docking.set_scheduling_policy(takt::edf());
  takt::SchedulingStrategy strategy;
  strategy.add_scenario(cruising);
  strategy.add_scenario(docking);
  strategy.set_default_scenario("cruising");
  executor.set_scheduling_strategy(strategy);
  executor.spin();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "docking: %s\n", error.what());
  return 1;
}
