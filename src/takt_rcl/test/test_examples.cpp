// SPDX-License-Identifier: Apache-2.0
//
// The examples of scheduling, run as a user would start them. Their order is judged, by what they
// print and by their traces; their times are not.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <string>
#include <takt/trace/reader.hpp>
#include <takt/trace/timeline.hpp>
#include <vector>

#include "executor_support.hpp"

namespace takt::test {
namespace {

using trace::EventType;

struct Output {
  int exit_code;
  std::vector<std::string> lines;
};

// The program with its output and errors; `prefix` is put before it.
Output run(const std::string& example, const std::string& arguments = "",
           const std::string& prefix = "") {
  const std::string command = prefix + EXAMPLES + "/" + example + " " + arguments + " 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) output += buffer.data();
  const int status = pclose(pipe);
  Output result{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .lines = {}};
  std::istringstream lines{output};
  for (std::string line; std::getline(lines, line);) result.lines.push_back(line);
  return result;
}

std::vector<std::string> starts_of(const trace::Trace& trace) {
  std::vector<std::string> names;
  for (const trace::Event& event : trace.events) {
    if (event.type == EventType::start) names.push_back(trace.tasks.at(event.task));
  }
  return names;
}

class Examples : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = no_fifo()) {
      GTEST_SKIP() << "needs real-time priorities: " << *reason;
    }
  }
  TemporaryFile file;
};

TEST_F(Examples, priorities_interrupt_what_is_less_urgent) {
  const Output result = run("priorities", file.path());
  EXPECT_EQ(result.exit_code, 0);
  std::vector<std::string> expected;
  for (int i = 0; i < 3; ++i)
    expected.insert(expected.end(), {"slow begins", "  urgent", "slow ends"});
  EXPECT_EQ(result.lines, expected);
  const trace::Trace trace = trace::read_trace(file.path());
  std::vector<std::pair<std::string, bool>> order;  // task, starts
  for (const trace::Event& event : trace.events) {
    if (event.type == EventType::start || event.type == EventType::end) {
      order.emplace_back(trace.tasks.at(event.task), event.type == EventType::start);
    }
  }
  ASSERT_EQ(order.size(), 12U);
  for (std::size_t i = 0; i < order.size(); i += 4) {
    EXPECT_EQ(order[i], (std::pair<std::string, bool>{"slow", true}));
    EXPECT_EQ(order[i + 1], (std::pair<std::string, bool>{"urgent", true}));
    EXPECT_EQ(order[i + 2], (std::pair<std::string, bool>{"urgent", false}));
    EXPECT_EQ(order[i + 3], (std::pair<std::string, bool>{"slow", false}));
  }
}

TEST_F(Examples, edf_runs_by_deadline) {
  const Output result = run("edf", file.path());
  EXPECT_EQ(result.exit_code, 0);
  std::vector<std::string> expected;
  for (int i = 0; i < 3; ++i) {
    expected.insert(expected.end(), {"control, due after 20 ms", "vision, due after 50 ms",
                                     "logging, due after 90 ms"});
  }
  EXPECT_EQ(result.lines, expected);
  const auto starts = starts_of(trace::read_trace(file.path()));
  ASSERT_GE(starts.size(), 4U);
  EXPECT_EQ((std::vector<std::string>{starts.begin(), starts.begin() + 4}),
            (std::vector<std::string>{"end", "robot.timer2", "robot.timer3", "robot.timer1"}));
}

TEST_F(Examples, fresh_data_is_that_of_the_same_cycle) {
  const Output result = run("fresh_data", file.path());
  EXPECT_EQ(result.exit_code, 0);
  // A machine that stops for a period skips a cycle, but never mixes two.
  ASSERT_FALSE(result.lines.empty());
  for (const std::string& line : result.lines) {
    std::smatch cycle;
    ASSERT_TRUE(std::regex_match(line, cycle, std::regex{"cycle (\\d+) brakes for scan (\\d+)"}))
        << line;
    EXPECT_EQ(cycle[1], cycle[2]) << line;
  }
  // In the trace: each job of brake is given a message between its start and its end.
  const trace::Trace trace = trace::read_trace(file.path());
  bool delivered = false;
  int jobs = 0;
  for (const trace::Event& event : trace.events) {
    if (event.task == trace::no_task || trace.tasks.at(event.task) != "brake") continue;
    if (event.type == EventType::start) delivered = false;
    if (event.type == EventType::deliver) delivered = true;
    if (event.type == EventType::end) {
      EXPECT_TRUE(delivered);
      ++jobs;
    }
  }
  EXPECT_EQ(static_cast<std::size_t>(jobs), result.lines.size());
}

TEST_F(Examples, docking_switches_once_and_stays) {
  const Output result = run("docking", file.path());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.lines,
            (std::vector<std::string>{"cruising: 25 cm", "cruising: 20 cm", "cruising: 15 cm",
                                      "docking: 10 cm", "docking: 5 cm", "docking: 0 cm"}));
  const trace::Trace trace = trace::read_trace(file.path());
  std::vector<std::string> scenarios;
  for (const trace::Event& event : trace.events) {
    if (event.type == EventType::scenario) {
      scenarios.push_back(trace.scenarios.at(static_cast<std::uint16_t>(event.value)));
    }
  }
  ASSERT_FALSE(scenarios.empty());
  EXPECT_EQ(scenarios.back(), "docking");
}

TEST_F(Examples, data_age_is_kept_by_early_releases) {
  const Output result = run("data_age", file.path());
  EXPECT_EQ(result.exit_code, 0);
  unsigned long early = 0;
  unsigned long violations = 0;
  ASSERT_FALSE(result.lines.empty());
  ASSERT_EQ(std::sscanf(result.lines.back().c_str(),
                        "early releases of sample: %lu; violations: %lu", &early, &violations),
            2)
      << result.lines.back();
  EXPECT_GT(early, 0U);
  // A machine that stops for tens of milliseconds makes some; none is silent.
  EXPECT_EQ(result.lines.size(), violations + 1);
}

TEST_F(Examples, custom_policy_runs_the_shortest_first) {
  const Output result = run("custom_policy", file.path());
  EXPECT_EQ(result.exit_code, 0);
  std::vector<std::string> expected;
  for (int i = 0; i < 2; ++i)
    expected.insert(expected.end(), {"2 ms", "4 ms", "6 ms", "cycle ends"});
  EXPECT_EQ(result.lines, expected);
}

TEST_F(Examples, multi_core_keeps_tasks_where_they_belong) {
  const Output result = run("multi_core", file.path());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.lines,
            (std::vector<std::string>{"control on the first core", "vision on the last core",
                                      "both users of the map on one core"}));
}

TEST(ExamplesWithoutPrivileges, run_and_say_once_what_they_lack) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to drop its privileges";
  const std::string prefix =
      "setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all ";
  if (std::system((prefix + "test -x " + EXAMPLES + "/priorities").c_str()) != 0) {
    GTEST_SKIP() << "setpriv is missing, or the folder of the build is closed to others";
  }
  const Output result = run("priorities", "", prefix + "prlimit --rtprio=0 ");
  EXPECT_EQ(result.exit_code, 0);
  const auto count = [&](const std::string& text) {
    return std::ranges::count_if(result.lines, [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  };
  EXPECT_EQ(count("real-time setting(s) not granted"), 1);
  // A busy machine may leave releases out, but not the one that ends it, nor half a callback.
  EXPECT_EQ(count("slow begins"), count("slow ends"));
  EXPECT_GE(count("urgent"), 1);
  EXPECT_LE(count("urgent"), 3);
}

}  // namespace
}  // namespace takt::test
