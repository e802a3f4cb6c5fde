// SPDX-License-Identifier: Apache-2.0
//
// Jobs that wait for a device and occupy it: requests are served one after the other, in their
// order.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "analysis/random_tasks.hpp"
#include "call_documents.hpp"
#include "every_call.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/application/parse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

Part gpu(std::int64_t shortest, std::int64_t longest) {
  return {.shortest = shortest, .longest = longest, .device = "gpu"};
}

std::string refusal(const std::string& json) {
  try {
    static_cast<void>(application::parse(json));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const Described camera{.name = "camera", .priority = 3, .parts = {{1, 1}, gpu(5, 5), {1, 1}}};
const Described lidar{
    .name = "lidar", .cpu = 1, .priority = 2, .parts = {{1, 1}, gpu(4, 4), {2, 2}}};
const Described other{.name = "other", .cpu = 2, .parts = {{1, 1}, gpu(2, 2), {3, 3}}};

// All ask after 1: served until 6, 10 and 12.
TEST(devices, serve_one_request_after_the_other) {
  const auto app = application::parse(document({camera, lidar, other}));
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{400}});
  EXPECT_EQ(run.callbacks[0].response.max, nanoseconds{7});
  EXPECT_EQ(run.callbacks[1].response.max, nanoseconds{12});
  EXPECT_EQ(run.callbacks[2].response.max, nanoseconds{15});
  const auto report = analyse(app, {}).scenarios.front();
  EXPECT_EQ(report.callbacks[0].response, nanoseconds{1 + 11 + 1});
  EXPECT_EQ(report.callbacks[1].response, nanoseconds{1 + 11 + 2});
  EXPECT_EQ(report.callbacks[2].response, nanoseconds{1 + 11 + 3});
  EXPECT_EQ(report.callbacks[2].suspension, nanoseconds{11});
  EXPECT_TRUE(report.callbacks[2].bound_by.ends_with("eq. 36")) << report.callbacks[2].bound_by;
}

TEST(devices, of_other_names_do_not_delay) {
  Described apart = lidar;
  apart.parts[1].device = "bus";
  const auto app = application::parse(document({camera, apart}));
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{400}});
  const auto report = analyse(app, {}).scenarios.front();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(run.callbacks[i].response.max, nanoseconds{7});
    EXPECT_EQ(report.callbacks[i].response, nanoseconds{7});
  }
}

// What others may take at the device happens in no run of this one.
TEST(devices, that_may_be_busy_refute_no_deadline) {
  Described late = camera;
  late.more = R"(,"deadline":8)";
  Described rare = lidar;
  rare.released = R"("period":100,"offset":50)";
  const auto report = analyse(application::parse(document({late, rare})), {}).scenarios.front();
  EXPECT_EQ(report.callbacks[0].verdict, Verdict::not_proved);
  late.more = R"(,"deadline":6)";  // it takes 7 alone
  EXPECT_EQ(analyse(application::parse(document({late, rare})), {})
                .scenarios.front()
                .callbacks[0]
                .verdict,
            Verdict::misses);
}

TEST(devices, of_a_robot_serve_all_processes_of_a_host) {
  const std::string handover = R"(,"handover":{"least":0,"most":1})";
  const auto app = application::parse(
      document({camera, lidar}, robot({0, 1}, {}, handover), Runs::in_processes));
  const sim::Result run = sim::simulate(app, {.duration = nanoseconds{400}});
  EXPECT_EQ(run.callbacks[1].response.max, nanoseconds{12});
  const auto report = analyse(app, {}).scenarios.front();
  EXPECT_EQ(report.callbacks[0].response, nanoseconds{11});
  EXPECT_EQ(report.callbacks[1].response, nanoseconds{12});
  EXPECT_NE(refusal(document({camera, lidar},
                             robot({0, 0}, {"a", "b"},
                                   R"(,"links":[{"hosts":["a","b"],"least":1,"most":4}])"),
                             Runs::in_processes))
                .find("device 'gpu': 'camera' uses it on host 'a', and 'lidar' on host 'b'"),
            std::string::npos);
}

TEST(devices, are_occupied_while_a_job_waits) {
  EXPECT_EQ(refusal(document({camera})), "");
  std::string json = document({camera});
  const std::string first = R"("segments":[{"shortest":1,"longest":1)";
  json.replace(json.find(first), first.size(), first + R"(,"device":"gpu")");
  EXPECT_NE(refusal(json).find("occupies a device where it computes"), std::string::npos);
}

// Two or three that use it, and one that computes.
std::vector<TinyTask> tiny_set(RandomTasks& random) {
  std::vector<TinyTask> all;
  const bool apart = random.chance(0.6);
  const auto part = [&](std::int64_t most) {
    const std::int64_t longest = random.number(1, most);
    return Part{.shortest = random.chance(0.6) ? longest : random.number(1, longest),
                .longest = longest};
  };
  const std::int64_t users = random.number(2, 3);
  const std::int64_t tasks = random.chance(0.5) ? users : 3;
  for (std::int64_t i = 0; i < tasks; ++i) {
    TinyTask& task = all.emplace_back();
    task.cpu = apart ? static_cast<int>(random.number(0, 1)) : 0;
    task.period = random.number(11, 18);
    task.parts = {part(2)};
    if (std::ssize(all) <= users) {
      task.parts.push_back(part(3));
      task.parts.back().device = "gpu";
      task.parts.push_back(part(2));
    }
  }
  shuffle(random, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].priority = 90 - static_cast<int>(i);
  }
  return all;
}

std::string text(const std::vector<TinyTask>& tasks) {
  std::vector<Described> all;
  for (const TinyTask& one : tasks) {
    all.push_back({.name = "t" + std::to_string(all.size()),
                   .released = R"("overrun":"catch_up","offset":"unknown","period":)" +
                               std::to_string(one.period),
                   .cpu = one.cpu,
                   .priority = one.priority,
                   .parts = one.parts});
  }
  return document(all);
}

TEST(devices, delay_no_run_of_a_tiny_application_above_a_bound) {
  RandomTasks random{first_seed()};
  int complete = 0;
  int bounded = 0;
  int reached = 0;
  const int sets = rounds(40);
  for (int set = 0; set < sets && !::testing::Test::HasFailure(); ++set) {
    const std::vector<TinyTask> tasks = tiny_set(random);
    const std::string json = text(tasks);
    SCOPED_TRACE(json);
    const auto app = application::parse(json);
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    EveryCall runs{tasks};
    complete += runs.explore(30'000) ? 1 : 0;
    const sim::Result run = sim::simulate(
        app, {.duration = nanoseconds{2000}, .execution = sim::ExecutionTimes::drawn});
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const CallbackReport& one = report.callbacks[i];
      if (!one.response) {
        continue;
      }
      ++bounded;
      reached += nanoseconds{runs.longest()[i]} == *one.response ? 1 : 0;
      EXPECT_LE(nanoseconds{runs.longest()[i]}, *one.response) << one.name << one.bound_by;
      EXPECT_LE(run.callbacks[i].response.max, *one.response) << one.name << one.bound_by;
    }
  }
  std::cout << complete << " of " << sets << " sets complete; " << reached << " of " << bounded
            << " bounds reached\n";
  EXPECT_GT(complete, sets / 4);
  EXPECT_GT(reached, sets / 8);
}

}  // namespace
}  // namespace takt::analysis
