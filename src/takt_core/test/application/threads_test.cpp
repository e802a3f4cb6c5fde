// SPDX-License-Identifier: Apache-2.0
#include "takt/application/threads.hpp"

#include <gtest/gtest.h>

#include <string>

#include "analysis/documents.hpp"

namespace takt::application {
namespace {

using analysis::app;
using analysis::message;
using analysis::parsed;
using analysis::timer;

// A driver and a thread that receives, in one process; the topic comes from another one.
Application robot() {
  return parsed(app(
      timer("see", 10, 1, 1, ", 'process': 'eye', 'writes': ['image']") + ", " +
          message("act", "image", 1, 1, ", 'process': 'arm', 'deadline': 10") + ", " +
          message("hold", "force", 1, 2, ", 'process': 'arm', 'deadline': 10"),
      ", 'topics': [{'name': 'image'}, {'name': 'force'}], 'processes': [{'name': 'eye', 'cpu': 0, "
      "'priority': 10}, {'name': 'arm', 'cpu': 0, 'priority': 40, 'threads': [{'name': 'dds', "
      "'priority': 60, 'receives': [{'topic': 'image', 'execution': {'worst': 1}}]}, {'name': "
      "'can', 'priority': 80, 'period': 5, 'execution': {'worst': 1}, 'writes': ['force']}]}], "
      "'chains': [{'name': 'grip', 'callbacks': ['see', 'act']}]"));
}

TEST(threads, all_of_them_are_processes_for_analysis_and_simulation) {
  const Application all = with_threads(robot());
  ASSERT_EQ(all.processes.size(), 4U);
  EXPECT_TRUE(all.processes[1].threads.empty());
  EXPECT_EQ(all.chains.front().callbacks.size(), 3U);
  EXPECT_EQ(all.callbacks[1].task.trigger, "arm.dds.image");
}

TEST(threads, only_drivers_are_processes_for_an_execution) {
  const Application executed = with_drivers(robot());
  ASSERT_EQ(executed.processes.size(), 3U);
  EXPECT_EQ(executed.processes[2].name, "arm.can");
  EXPECT_EQ(executed.processes[2].serves, "arm");
  EXPECT_EQ(executed.processes[2].priority, 80);
  ASSERT_EQ(executed.processes[1].threads.size(), 1U);
  EXPECT_EQ(executed.processes[1].threads.front().name, "dds");
  EXPECT_EQ(executed.callbacks.back().task.name, "arm.can");
  EXPECT_EQ(executed.callbacks.back().task.writes, std::vector<std::string>{"force"});
  EXPECT_EQ(executed.callbacks[1].task.trigger, "image");
  EXPECT_EQ(executed.chains.front().callbacks.size(), 2U);
}

}  // namespace
}  // namespace takt::application
