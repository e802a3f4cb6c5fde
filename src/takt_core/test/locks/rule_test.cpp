// SPDX-License-Identifier: Apache-2.0
//
// Who waits for whom under each protocol: runs by hand, and the bounds beside them.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "documents.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

std::map<std::string, std::int64_t> longest(const application::Application& app) {
  std::map<std::string, std::int64_t> result;
  for (const sim::CallbackResult& callback :
       sim::simulate(app, {.duration = nanoseconds{1000}}).callbacks) {
    result[callback.name] = callback.response.max.count();
  }
  return result;
}

using Responses = std::map<std::string, std::int64_t>;

// The low one takes the lock at 1; the high one comes at 2, the middle one at 3.
std::string inversion(const std::string& protocol, const std::string& lock_of_low = "m") {
  return with_locks(timer("high", 1000, 4, 3, holds(section("m", 1, 2)) + at(2)) + "," +
                        timer("middle", 1000, 10, 2, at(3)) + "," +
                        timer("low", 1000, 6, 1, holds(section(lock_of_low, 1, 4))),
                    mutex("m", protocol) + "," + mutex("n", protocol));
}

TEST(Inheritance, lends_the_priority_of_the_waiting_job) {
  // high 2..3, low 3..6 in its place, high 6..9, middle 9..19, low 19..20.
  EXPECT_EQ(longest(parsed(inversion("inheritance"))),
            (Responses{{"high", 7}, {"middle", 16}, {"low", 20}}));
}

TEST(Inheritance, is_not_needed_for_another_lock) {
  EXPECT_EQ(longest(parsed(inversion("inheritance", "n"))),
            (Responses{{"high", 4}, {"middle", 13}, {"low", 20}}));
}

TEST(Ceiling, keeps_all_who_take_the_lock_from_starting) {
  // low 0..5 (its section from 1 on), high 5..9, middle 9..19, low 19..20.
  EXPECT_EQ(longest(parsed(inversion("ceiling"))),
            (Responses{{"high", 7}, {"middle", 16}, {"low", 20}}));
  // A higher one that does not take it preempts.
  const std::string free =
      with_locks(timer("high", 1000, 4, 3, at(2)) + "," +
                     timer("middle", 1000, 10, 2, holds(section("m", 1, 2)) + at(3)) + "," +
                     timer("low", 1000, 6, 1, holds(section("m", 1, 4))),
                 mutex("m", "ceiling"));
  EXPECT_EQ(longest(parsed(free)), (Responses{{"high", 4}, {"middle", 16}, {"low", 20}}));
}

// b 0..4 with the lock; a asks at 1, and low runs until a has it: a 4..7, low 7..9.
TEST(FmlpPlus, waits_without_the_core) {
  const std::string json =
      with_locks(timer("a", 1000, 4, 3, holds(section("m", 1, 2)) + ", 'cpu': 0") + "," +
                     timer("low", 1000, 5, 1, ", 'cpu': 0") + "," +
                     timer("b", 1000, 6, 1, holds(section("m", 0, 4)) + ", 'cpu': 1"),
                 mutex("m", "fmlp+"), ", 'cpus': [0, 1]");
  EXPECT_EQ(longest(parsed(json)), (Responses{{"a", 7}, {"low", 9}, {"b", 6}}));
  const ScenarioReport report = analyse_json(json).scenarios.front();
  EXPECT_EQ(callback(report, "a").response, nanoseconds{4 + 4});
  EXPECT_EQ(callback(report, "low").response, nanoseconds{5 + 4 + 4});
  EXPECT_EQ(callback(report, "b").response, nanoseconds{6 + 2});
}

// The holder comes before a more urgent job of its core.
TEST(FmlpPlus, lets_a_holder_go_on) {
  const std::string json = with_locks(
      timer("high", 1000, 2, 2, at(1)) + "," + timer("low", 1000, 5, 1, holds(section("m", 0, 4))),
      mutex("m", "fmlp+"));
  EXPECT_EQ(longest(parsed(json)), (Responses{{"high", 5}, {"low", 7}}));
  EXPECT_EQ(callback(analyse_json(json).scenarios.front(), "high").response, nanoseconds{2 + 4});
}

// Due at 2 + 20, 3 + 30 and 100. Without the lock the first one would preempt at once.
TEST(CeilingUnderEdf, goes_by_relative_deadlines) {
  const auto json = [](const std::string& lock_of_low) {
    return with_locks(
        timer("high", 1000, 4, 1, holds(section("m", 1, 2)) + at(2) + ", 'deadline': 20") + "," +
            timer("middle", 1000, 10, 1, at(3) + ", 'deadline': 30") + "," +
            timer("low", 1000, 6, 1, holds(section(lock_of_low, 1, 4)) + ", 'deadline': 100"),
        mutex("m", "ceiling") + "," + mutex("n", "ceiling"), ", 'policy': 'edf'");
  };
  EXPECT_EQ(longest(parsed(json("m"))), (Responses{{"high", 7}, {"middle", 16}, {"low", 20}}));
  EXPECT_EQ(longest(parsed(json("n"))), (Responses{{"high", 4}, {"middle", 13}, {"low", 20}}));
  const ScenarioReport report = analyse_json(json("m")).scenarios.front();
  EXPECT_EQ(callback(report, "high").blocking, nanoseconds{4});
  EXPECT_EQ(callback(report, "high").response, nanoseconds{4 + 4});
  EXPECT_EQ(callback(report, "high").locks, std::vector<std::string>{"m"});
  EXPECT_EQ(callback(report, "middle").response, nanoseconds{4 + 10 + 4});
  EXPECT_EQ(callback(analyse_json(json("n")).scenarios.front(), "high").response, nanoseconds{4});
}

// The high one waits for the middle one's lock, and that one for the low one's.
std::string chain(const std::string& protocol) {
  return with_locks(timer("high", 1000, 3, 3, holds(section("m", 1, 1)) + at(4)) + "," +
                        timer("middle", 1000, 5, 2,
                              holds(section("m", 1, 3) + "," + section("n", 2, 1)) + at(2)) +
                        "," + timer("low", 1000, 8, 1, holds(section("n", 1, 5))),
                    mutex("m", protocol) + "," + mutex("n", protocol));
}

TEST(Inheritance, goes_on_along_a_chain_of_locks) {
  // low 0..2, middle 2..4 (m from 3 on, and wants n), high 4..5 (wants m), low 5..9, middle 9..11,
  // high 11..13, middle 13..14, low 14..16.
  EXPECT_EQ(longest(parsed(chain("inheritance"))),
            (Responses{{"high", 9}, {"middle", 12}, {"low", 16}}));
  const ScenarioReport report = analyse_json(chain("inheritance")).scenarios.front();
  EXPECT_EQ(callback(report, "high").blocking, nanoseconds{3 + 5});
  EXPECT_EQ(callback(report, "high").response, nanoseconds{3 + 3 + 5});
  EXPECT_EQ(callback(report, "high").locks, (std::vector<std::string>{"m", "n"}));
}

// The first two take it at 1, in the order of the file; the third one asks at 2, from core 0 again,
// where nobody comes before the job that spins.
TEST(SpinLocks, are_taken_in_the_order_of_requests) {
  const auto on = [](const char* const core, std::int64_t offset, std::int64_t length) {
    return holds(section("m", 1, length)) + at(offset) + ", 'cpu': " + core;
  };
  const std::string json = with_locks(timer("a", 1000, 6, 1, on("0", 0, 4)) + "," +
                                          timer("b", 1000, 8, 1, on("1", 0, 5)) + "," +
                                          timer("c", 1000, 4, 1, on("2", 1, 2)) + "," +
                                          timer("high", 1000, 1, 9, at(6) + ", 'cpu': 1"),
                                      mutex("m", "spin"), ", 'cpus': [0, 1, 2]");
  // a has it in 1..5, b in 5..10, c in 10..12; high waits until b leaves it.
  EXPECT_EQ(longest(parsed(json)), (Responses{{"a", 6}, {"b", 13}, {"c", 12}, {"high", 5}}));
  const ScenarioReport report = analyse_json(json).scenarios.front();
  EXPECT_EQ(callback(report, "a").response, nanoseconds{6 + 5 + 2});
  EXPECT_EQ(callback(report, "b").response, nanoseconds{8 + 4 + 2 + 1});
  EXPECT_EQ(callback(report, "c").response, nanoseconds{4 + 4 + 5});
  EXPECT_EQ(callback(report, "high").response, nanoseconds{1 + 5 + 4 + 2});
  EXPECT_EQ(callback(report, "high").blocking, nanoseconds{5 + 4 + 2});
  EXPECT_EQ(callback(report, "c").locks, std::vector<std::string>{"m"});
}

TEST(Bounds, count_the_longest_section_once_under_ceilings) {
  const auto tasks = [](const std::string& protocol) {
    return analyse_json(with_locks(timer("a", 100, 3, 4,
                                         holds(section("m", 0, 1) + "," + section("n", 1, 1))) +
                                       "," + timer("b", 100, 9, 3, holds(section("m", 1, 5))) +
                                       "," + timer("c", 100, 9, 2, holds(section("n", 1, 7))) +
                                       "," + timer("d", 100, 9, 1, holds(section("n", 1, 4))),
                                   mutex("m", protocol) + "," + mutex("n", protocol)))
        .scenarios.front();
  };
  const ScenarioReport ceiling = tasks("ceiling");
  EXPECT_EQ(callback(ceiling, "a").blocking, nanoseconds{7});
  EXPECT_EQ(callback(ceiling, "b").blocking, nanoseconds{7});
  EXPECT_EQ(callback(ceiling, "c").blocking, nanoseconds{4});
  EXPECT_EQ(callback(ceiling, "d").blocking, nanoseconds{0});
  const ScenarioReport inheritance = tasks("inheritance");
  EXPECT_EQ(callback(inheritance, "a").blocking, nanoseconds{5 + 7});  // by lock
  EXPECT_EQ(callback(inheritance, "b").blocking, nanoseconds{7});
  EXPECT_EQ(callback(inheritance, "c").blocking, nanoseconds{4});
  EXPECT_EQ(callback(inheritance, "c").bound_by,
            "critical sections of less urgent callbacks (Sha et al. 1990; Baker 1991), eq. 25");
}

TEST(Bounds, are_not_called_exact_where_locks_matter) {
  const ScenarioReport report = analyse_json(inversion("ceiling")).scenarios.front();
  EXPECT_FALSE(callback(report, "high").exact);
  EXPECT_FALSE(callback(report, "middle").exact);
  EXPECT_FALSE(callback(report, "low").exact);  // it may end before the others begin
}

// Without preemption a job of the core that holds a lock has ended before the next one starts.
TEST(Bounds, do_not_change_without_preemption) {
  const auto responses = [](const std::string& sections) {
    const ScenarioReport report =
        analyse_json(with_locks(timer("a", 100, 3, 2, holds(sections)) + "," +
                                    timer("b", 100, 9, 1, holds(sections)),
                                mutex("m", "inheritance"), ", 'policy': 'np-fp'"))
            .scenarios.front();
    return std::pair{*callback(report, "a").response, *callback(report, "b").response};
  };
  EXPECT_EQ(responses(section("m", 1, 1)), responses(""));
}

// A factor on the execution times is one on the sections, too.
TEST(Bounds, grow_with_the_execution_times) {
  const ScenarioReport report =
      analyse_json(
          with_locks(timer("a", 100, 10, 2, holds(section("m", 0, 5)) + ", 'deadline': 40") + "," +
                         timer("b", 400, 20, 1, holds(section("m", 0, 10))),
                     mutex("m", "ceiling")))
          .scenarios.front();
  ASSERT_TRUE(report.sensitivity && report.sensitivity->all);
  EXPECT_NEAR(*report.sensitivity->all, 2.0, 0.1);  // 10 f + 10 f <= 40
}

TEST(Sections, that_a_short_job_does_not_reach_are_left_out) {
  const std::string json = with_locks(
      "{'name': 'a', 'period': 50, 'priority': 2, 'execution': {'best': 1, 'worst': 20, "
      "'quantiles': [1, 20]}" +
          holds(section("m", 2, 18) + "," +
                "{'lock': 'n', 'begin': 5, 'shortest': 1, 'longest': 10}") +
          "}," + timer("b", 43, 9, 1, holds(section("m", 0, 8))),
      mutex("m", "inheritance") + "," + mutex("n", "inheritance"));
  const application::Application app = parsed(json);
  const ScenarioReport report = analyse(app).scenarios.front();
  nanoseconds most{0};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const sim::Result run = sim::simulate(
        app,
        {.duration = nanoseconds{20'000}, .seed = seed, .execution = sim::ExecutionTimes::drawn});
    EXPECT_LE(run.callbacks[0].response.max, *report.callbacks[0].response);
    most = std::max(most, run.callbacks[0].response.max);
    EXPECT_EQ(run.callbacks[0].unfinished + run.callbacks[0].jobs, 400U);
  }
  EXPECT_GT(most, nanoseconds{20});  // b held the lock
}

// In its time of computing.
TEST(Waits, come_where_the_job_holds_no_lock_and_still_has_to_compute) {
  application::LockPlan plan{{{.lock = 0, .begin = nanoseconds{2}, .longest = nanoseconds{4}},
                              {.lock = 1, .begin = nanoseconds{3}, .longest = nanoseconds{1}},
                              {.lock = 0, .begin = nanoseconds{8}, .longest = nanoseconds{2}}},
                             4};
  const std::vector<nanoseconds> waits{nanoseconds{1}, nanoseconds{3}, nanoseconds{6},
                                       nanoseconds{9}};
  const auto text = [&](std::int64_t computing) {
    std::string result;
    for (const application::LockStep& step : plan.steps_within(nanoseconds{computing}, waits)) {
      result += step.waits ? "w" : (step.takes ? "t" : "l") + std::to_string(step.lock);
      result += "@" + std::to_string(step.at.count()) + " ";
    }
    return result;
  };
  EXPECT_EQ(text(12), "w@1 t0@2 t1@3 l1@4 l0@6 w@6 w@6 t0@8 l0@10 w@10 ");
  EXPECT_EQ(text(10), "w@1 t0@2 t1@3 l1@4 l0@6 w@6 w@6 w@8 t0@8 l0@10 ");
}

}  // namespace
}  // namespace takt::analysis
