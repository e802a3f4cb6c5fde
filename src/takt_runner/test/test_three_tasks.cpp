// SPDX-License-Identifier: Apache-2.0
//
// The example, run as a user would start it. The order is judged, by what it prints and by its
// traces; times are not.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <takt/trace/reader.hpp>

#include "takt/testing/patience.hpp"
#include "takt/testing/temporary.hpp"

namespace takt::test {
namespace {

TEST(ThreeTasks, show_figures_2_4_and_2_5_of_the_thesis) {
  if (const auto reason = no_fifo()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  const TemporaryFolder folder;
  // The baseline has no priority of its own: on a busy machine it would come too late for a cycle.
  const std::string command =
      std::string{"chrt --fifo 10 "} + THREE_TASKS + " " + folder.path().string() + " 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) output += buffer.data();
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(output,
            "baseline0: task1 task2 task3 (data); task3 computed on old data, each time\n"
            "Takt     : task1 task3 (data) task2; task3 computed on the data of its cycle\n");
  for (const char* name : {"baseline0.takttrace", "takt.takttrace"}) {
    EXPECT_TRUE(trace::read_trace(folder.path() / name).closed_in_order) << name;
  }
}

}  // namespace
}  // namespace takt::test
