// SPDX-License-Identifier: Apache-2.0
#include "takt/application/parse.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "takt/application/compile.hpp"
#include "takt/sched/compiled.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"

namespace takt::application {
namespace {

using namespace std::chrono_literals;

const std::string docking = R"({
  "version": 1, "name": "docking", "policy": "edf", "cpus": [1],
  "callbacks": [
    {"name": "radar.scan", "node": "radar", "period": 10000000, "deadline": 5000000,
     "execution": {"best": 1000000, "worst": 1500000, "quantiles": [1000000, 1500000]},
     "jitter": 1000, "overrun": "queue_one", "writes": ["scan"]},
    {"name": "guard.brake", "node": "guard", "period": 20000000, "priority": 80,
     "execution": {"worst": 2000000}, "group": "hardware", "cpu": 1,
     "reads": [{"topic": "scan", "max_age": 15000000}]},
    {"name": "guard.log", "node": "guard", "kind": "message", "trigger": "scan",
     "execution": {"worst": 10000}}],
  "topics": [{"name": "scan", "bytes": 512000, "depth": 2, "reliable": false}],
  "chains": [{"name": "brake", "callbacks": ["radar.scan", "guard.brake"], "max_latency": 30000000}],
  "scenarios": [{"name": "cruise"},
    {"name": "docking", "policy": "rm", "tasks": [{"task": "guard.brake", "period": 5000000}]}],
  "default_scenario": "cruise",
  "switches": [{"at": 2000000000, "scenario": "cruise"}, {"at": 1000000000, "scenario": "docking"}],
  "overheads": {"dispatch": 2000, "preemption": 3000, "publish": 500, "publish_per_kib": 1,
                "deliver": 100}})";

TEST(ParseApplication, everything_arrives_where_it_belongs) {
  const Application application = parse(docking);
  EXPECT_EQ(application.name, "docking");
  EXPECT_EQ(application.cpus, std::vector{1});
  ASSERT_EQ(application.callbacks.size(), 3U);
  const Callback& scan = application.callbacks[0];
  EXPECT_EQ(scan.node, "radar");
  EXPECT_EQ(scan.task.parameters.period, 10ms);
  EXPECT_EQ(scan.task.parameters.expected_execution, 1500us);
  EXPECT_EQ(scan.task.parameters.overrun, sched::Overrun::queue_one);
  EXPECT_EQ(scan.jitter, 1us);
  EXPECT_EQ(application.callbacks[1].task.reads[0].max_age, 15ms);
  EXPECT_EQ(application.callbacks[1].execution.best, 2ms);
  EXPECT_EQ(application.callbacks[2].task.kind, sched::TaskKind::message);
  EXPECT_EQ(application.find_topic("scan")->depth, 2U);
  EXPECT_FALSE(application.find_topic("scan")->reliable);
  EXPECT_EQ(application.find_topic("none"), nullptr);
  EXPECT_EQ(application.chains[0].max_latency, 30ms);
  EXPECT_EQ(application.switches[0].scenario, "docking");  // by time
  EXPECT_TRUE(application.overheads.any());
}

TEST(ParseApplication, what_is_parsed_compiles) {
  const Application application = parse(docking);
  const sched::CompiledStrategy compiled{application.tasks(),
                                         *application.strategy,
                                         sched::parse_policy(application.policy),
                                         {.cpus = application.cpus}};
  EXPECT_EQ(compiled.scenarios().size(), 2U);
  EXPECT_EQ(compiled.scenarios()[1].policy().name(), "rm");
  EXPECT_EQ(compiled.scenarios()[1].parameters(1).period, 5ms);
}

TEST(ParseApplication, worst_overhead_counts_each_message_and_each_taking_of_the_core) {
  Application application = parse(docking);
  const auto overhead = [&](std::size_t i) {
    return application.worst_overhead(application.callbacks[i], application.callbacks[i].task);
  };
  // dispatch, preemption + one message of 500 KiB
  EXPECT_EQ(overhead(0), 5us + 500ns + 500ns);
  // up to two messages wait
  EXPECT_EQ(overhead(1), 5us + 200ns);
  EXPECT_EQ(overhead(2), 5us + 100ns);
  application.callbacks[2].suspension = 1ms;
  application.callbacks[2].suspensions = 1;
  EXPECT_EQ(overhead(2), 5us + 100ns + application.overheads.preemption);
  application.overheads = {};
  EXPECT_FALSE(application.overheads.any());
  EXPECT_EQ(overhead(0), 0ns);
}

TEST(ParseApplication, topics_of_all_scenarios_are_those_of_the_compiled_strategy) {
  const Application application =
      parse(R"({"version": 1, "name": "x", "policy": "rm", "callbacks": [
        {"name": "a", "period": 9, "execution": {"worst": 1}, "writes": ["p"]},
        {"name": "b", "period": 9, "execution": {"worst": 1},
         "reads": [{"topic": "p", "max_age": 20}]}],
      "topics": [{"name": "q", "external": true}],
      "scenarios": [
        {"name": "one", "tasks": [{"task": "a", "writes": ["r", "p"]}]},
        {"name": "two", "tasks": [
          {"task": "b", "reads": [{"topic": "q", "max_age": 7}, {"topic": "p", "max_age": 30}]}]}],
      "overheads": {"publish": 100, "deliver": 10}})");
  const Application whole = application.with_topics_of_scenarios();
  EXPECT_EQ(whole.callbacks[0].task.writes, (std::vector<std::string>{"p", "r"}));
  const auto& reads = whole.callbacks[1].task.reads;
  ASSERT_EQ(reads.size(), 2U);
  EXPECT_EQ(reads[0].max_age, 20ns);  // scenario two's own affair
  EXPECT_EQ(reads[1].topic, "q");
  EXPECT_EQ(reads[1].max_age, 0ns);
  const sched::CompiledStrategy compiled = compile(application);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(compiled.tasks()[i].writes, whole.callbacks[i].task.writes);
    EXPECT_EQ(compiled.tasks()[i].reads.size(), whole.callbacks[i].task.reads.size());
  }
  EXPECT_EQ(whole.worst_overhead(whole.callbacks[0], whole.callbacks[0].task), 200ns);
  EXPECT_EQ(whole.worst_overhead(whole.callbacks[1], whole.callbacks[1].task), 20ns);
}

TEST(ParseApplication, a_callback_with_a_suspension_is_a_task_that_waits) {
  const Application application = parse(R"({"version": 1, "name": "x", "callbacks": [
        {"name": "a", "execution": {"worst": 1}, "suspension": 5000000,
         "suspensions": 3},
        {"name": "b", "execution": {"worst": 1}, "suspension": 0},
        {"name": "c", "execution": {"worst": 1}}]})");
  EXPECT_EQ(application.callbacks[0].suspension, 5ms);
  EXPECT_EQ(application.callbacks[0].suspensions, 3);
  EXPECT_EQ(application.callbacks[2].suspensions, 0);
  EXPECT_TRUE(application.callbacks[0].task.waits);
  EXPECT_FALSE(application.callbacks[1].task.waits);
  EXPECT_FALSE(application.callbacks[2].task.waits);
}

TEST(Execution, follows_its_quantiles) {
  const ExecutionTime constant{.worst = 5ms};
  EXPECT_EQ(constant.at(0.3), 5ms);
  const ExecutionTime single{.worst = 5ms, .quantiles = {3ms}};
  EXPECT_EQ(single.at(1), 3ms);
  const ExecutionTime table{.worst = 9ms, .quantiles = {1ms, 2ms, 8ms}};
  EXPECT_EQ(table.at(-1), 1ms);
  EXPECT_EQ(table.at(0.25), 1500us);
  EXPECT_EQ(table.at(0.5), 2ms);
  EXPECT_EQ(table.at(0.75), 5ms);
  EXPECT_EQ(table.at(1), 8ms);
  EXPECT_EQ(table.at(2), 8ms);
}

// An application with these cores.
std::string core(const std::string& cores) {
  return R"({"version": 1, "name": "x", "callbacks": [], "cores": [)" + cores + "]}";
}

TEST(ParseApplication, cores_have_a_supply_a_latency_and_interrupts) {
  const Application application = parse(R"({"version": 1, "name": "x", "callbacks": [],
      "cpus": [0, 1, 2], "cores": [
        {"cpu": 1, "latency": 50000, "supply": {"budget": 8000000, "period": 10000000},
         "interrupts": [{"period": 1000000, "duration": 20000, "burst": 4}]},
        {"cpu": 2, "supply": {"rate": 900000000, "delay": 2000000},
         "measured": {"windows": 300, "window": 100000000}}]})");
  EXPECT_EQ(application.find_core(0), nullptr);
  const Core& periodic = *application.find_core(1);
  EXPECT_EQ(periodic.supply->budget, 8ms);
  EXPECT_EQ(periodic.supply->period, 10ms);
  EXPECT_EQ(periodic.latency, 50us);
  ASSERT_EQ(periodic.interrupts.size(), 1U);
  EXPECT_EQ(periodic.interrupts[0].duration, 20us);
  EXPECT_EQ(periodic.interrupts[0].burst, 4);
  const Core& bounded = *application.find_core(2);
  EXPECT_EQ(bounded.supply->rate, Supply::whole / 10 * 9);
  EXPECT_EQ(bounded.supply->delay, 2ms);
  EXPECT_EQ(bounded.supply->period, 0ms);
  EXPECT_FALSE(periodic.measured);
  EXPECT_EQ(bounded.measured->windows, 300);
  EXPECT_EQ(bounded.measured->window, 100ms);
}

struct Refused {
  std::string name;
  std::string json;
  std::string says;
};

class ParseRefuses : public testing::TestWithParam<Refused> {};

TEST_P(ParseRefuses, and_says_what_and_where) {
  try {
    static_cast<void>(parse(GetParam().json));
    FAIL() << "was accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string{error.what()}.find(GetParam().says), std::string::npos) << error.what();
  }
}

std::string with_callback(const std::string& rest) {
  return R"({"version": 1, "name": "x", "callbacks": [{"name": "a", )" + rest + "}]}";
}

INSTANTIATE_TEST_SUITE_P(
    , ParseRefuses,
    testing::Values(
        Refused{"text", "{", "not JSON"}, Refused{"list", "[]", "is not an object"},
        Refused{"zero", std::string{R"({"version": 1, "name": "x", "callbacks": []})"} + '\0' + "]",
                "byte 45 is zero"},
        Refused{"version", R"({"version": 2})", "/version: is 2"},
        Refused{"no_callbacks", R"({"version": 1, "name": "x"})", "/callbacks: is missing"},
        Refused{"policy", R"({"version": 1, "name": "x", "policy": "efd", "callbacks": []})",
                "efd"},
        Refused{"unknown_key", with_callback(R"("execution": {"worst": 1}, "perod": 1)"),
                "/callbacks/0/perod: is unknown"},
        Refused{"no_execution", with_callback(R"("period": 1)"),
                "/callbacks/0/execution: is missing"},
        Refused{"fraction", with_callback(R"("execution": {"worst": 1.5})"),
                "/callbacks/0/execution/worst: is not a whole number"},
        Refused{"best", with_callback(R"("execution": {"worst": 1, "best": 2})"), "best is not"},
        Refused{"quantiles", with_callback(R"("execution": {"worst": 1, "quantiles": [2, 1]})"),
                "/quantiles: is not ascending"},
        Refused{"range", with_callback(R"("execution": {"worst": 1}, "priority": 99999999999)"),
                "/callbacks/0/priority: is out of range"},
        Refused{"overrun", with_callback(R"("execution": {"worst": 1}, "overrun": "drop")"),
                "none of skip, queue_one, catch_up"},
        Refused{"suspension", with_callback(R"("execution": {"worst": 1}, "suspension": -1)"),
                "/callbacks/0/suspension: is negative"},
        Refused{"suspensions_without_their_time",
                with_callback(R"("execution": {"worst": 1}, "suspensions": 2)"),
                "/callbacks/0/suspensions: counts waits of a callback without a suspension"},
        Refused{"suspension_of_a_scenario",
                R"({"version": 1, "name": "x", "callbacks": [],
                    "scenarios": [{"name": "s", "tasks": [{"task": "a", "suspension": 1}]}]})",
                "/scenarios/0/tasks/0/suspension: is unknown"},
        Refused{"chain",
                R"({"version": 1, "name": "x", "callbacks": [],
                    "chains": [{"name": "c", "callbacks": ["b"]}]})",
                "names no callback: 'b'"},
        Refused{"switch",
                R"({"version": 1, "name": "x", "callbacks": [],
                    "switches": [{"at": 0, "scenario": "s"}]})",
                "no scenario 's'"},
        Refused{"depth",
                R"({"version": 1, "name": "x", "callbacks": [],
                    "topics": [{"name": "t", "depth": 0}]})",
                "/topics/0/depth: is 0"},
        Refused{"core", core("{}"), "/cores/0/cpu: is missing"},
        Refused{"core_elsewhere", core(R"({"cpu": 2})"), "/cores/0/cpu: is none of cpus"},
        Refused{"core_twice", core(R"({"cpu": 0}, {"cpu": 0})"),
                "/cores/1/cpu: is described twice"},
        Refused{"budget", core(R"({"cpu": 0, "supply": {"budget": 11, "period": 10}})"),
                "/cores/0/supply/budget: is above the period"},
        Refused{"no_budget", core(R"({"cpu": 0, "supply": {"period": 10}})"),
                "/cores/0/supply/budget: is not a time from 1 ns"},
        Refused{"two_supplies",
                core(R"({"cpu": 0, "supply": {"budget": 1, "period": 10, "rate": 1}})"),
                "/cores/0/supply/rate: is unknown here"},
        Refused{"rate", core(R"({"cpu": 0, "supply": {"rate": 1000000001}})"),
                "/cores/0/supply/rate: is not a number of billionths"},
        Refused{"no_rate", core(R"({"cpu": 0, "supply": {"delay": 1}})"),
                "/cores/0/supply/rate: is missing"},
        Refused{"latency", core(R"({"cpu": 0, "latency": -1})"), "/cores/0/latency: is not a time"},
        Refused{"burst",
                core(R"({"cpu": 0, "interrupts": [{"period": 9, "duration": 1, "burst": 0}]})"),
                "/cores/0/interrupts/0/burst: is not a number from 1 to 1000"},
        Refused{"measured", core(R"({"cpu": 0, "measured": {"windows": 0, "window": 1}})"),
                "/cores/0/measured/windows: is not a number from 1"},
        Refused{"no_window", core(R"({"cpu": 0, "measured": {"windows": 1}})"),
                "/cores/0/measured/window: is not a time from 1 ns"}),
    [](const auto& instance) { return instance.param.name; });

TEST(ParseApplication, a_refusal_fits_on_a_screen_whatever_is_refused) {
  const std::string endless(100'000, 'x');
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::string head = R"({"version": 1, "name": "x", "callbacks": [], )";
  for (const std::string& text : {
           endless,
           R"({"version": )" + deep + "}",
           R"({"version": ")" + endless + R"("})",
           head + '"' + endless + R"(": 1})",
           head + R"("policy": ")" + endless + R"("})",
           head + R"("chains": [{"name": ")" + endless + R"(", "callbacks": []}]})",
           head + R"("chains": [{"name": "y", "callbacks": [")" + endless + R"("]}]})",
           head + R"("scenarios": [{"name": "y"}], "default_scenario": ")" + endless + R"("})",
       }) {
    std::string printed;
    try {
      static_cast<void>(parse(text));
    } catch (const std::exception& refusal) {
      printed = refusal.what();
    }
    EXPECT_FALSE(printed.empty()) << text.substr(0, 100);
    EXPECT_LT(printed.size(), 1000U) << text.substr(0, 100);
  }
}

}  // namespace
}  // namespace takt::application
