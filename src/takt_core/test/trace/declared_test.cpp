// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/declared.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "takt/sched/policies.hpp"
#include "takt/sched/strategy.hpp"
#include "takt/testing/temporary.hpp"
#include "takt/trace/reader.hpp"

namespace takt::trace {
namespace {

using namespace std::chrono_literals;
using test::TemporaryFile;

std::vector<sched::Task> two_tasks() {
  return {{.name = "radar.scan",
           .parameters = {.period = 10ms, .offset = 1ms, .deadline = 5ms, .priority = 40},
           .writes = {"scan"},
           .group = "map",
           .jitter = 20us},
          {.name = "guard.\"brake\"\xFF",
           .kind = sched::TaskKind::message,
           .parameters = {.priority = 80, .overrun = sched::Overrun::catch_up},
           .trigger = "scan",
           .reads = {{.topic = "odometry", .max_age = 15ms}}}};
}

std::vector<std::string> declared(const sched::CompiledStrategy& strategy, std::size_t scenario) {
  const TemporaryFile file;
  TraceWriter writer{file.path(), Source::simulator};
  for (sched::TaskIndex task = 0; task < strategy.tasks().size(); ++task) {
    declare_task(writer, strategy, task, scenario);
  }
  writer.close();
  return read_trace(file.path()).attributes;
}

TEST(DeclaredTask, SaysWhatTheExecutorKnowsAndLeavesOutDefaults) {
  const sched::CompiledStrategy strategy{
      two_tasks(), sched::fixed_priority(), {.cpus = {3}, .external_topics = {"odometry"}}};
  EXPECT_EQ(declared(strategy, 0),
            (std::vector<std::string>{
                R"(task={"cpu":3,"deadline":5000000,"group":"map","jitter":20000,"kind":"timer",)"
                R"("name":"radar.scan","offset":1000000,"period":10000000,"priority":40,)"
                R"("writes":["scan"]})",
                R"(task={"cpu":3,"kind":"message","name":"guard.\"brake\")"
                "\xEF\xBF\xBD"
                R"(","overrun":"catch_up","priority":80,)"
                R"("reads":[{"max_age":15000000,"topic":"odometry"}],"trigger":"scan"})"}));
}

TEST(DeclaredTask, SaysWhatOtherScenariosChange) {
  auto cruise = std::make_shared<sched::SchedulingScenario>("cruise");
  auto docking = std::make_shared<sched::SchedulingScenario>("docking");
  docking->add_task({.task = "radar.scan", .priority = 90, .period = 5ms});
  sched::SchedulingStrategy strategy;
  strategy.add_scenario(cruise);
  strategy.add_scenario(docking);
  const sched::CompiledStrategy compiled{
      two_tasks(), strategy, sched::fixed_priority(), {.external_topics = {"odometry"}}};
  const std::vector<std::string> from_cruise = declared(compiled, 0);
  ASSERT_EQ(from_cruise.size(), 3U);
  EXPECT_EQ(from_cruise[1],
            R"(change={"period":5000000,"priority":90,"scenario":"docking","task":"radar.scan"})");
  const std::vector<std::string> from_docking = declared(compiled, 1);
  ASSERT_EQ(from_docking.size(), 3U);
  EXPECT_EQ(from_docking[1],
            R"(change={"period":10000000,"priority":40,"scenario":"cruise","task":"radar.scan"})");
}

}  // namespace
}  // namespace takt::trace
