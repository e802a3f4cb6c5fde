// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/options.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

const std::vector<Capability> capabilities{
    {.kind = Kind::wakeup, .transport = "nanosleep", .roles = {Role::both}, .max_payload_bytes = 0},
    {.kind = Kind::supply, .transport = "clock", .roles = {Role::both}, .max_payload_bytes = 0},
    {.kind = Kind::pingpong,
     .transport = "near",
     .roles = {Role::both},
     .without = without_qos("its transport decides", "it keeps nothing")},
    {.kind = Kind::pingpong,
     .transport = "far",
     .roles = {Role::pong, Role::ping},
     .max_payload_bytes = 1000,
     .executors = {"first", "second"},
     .both_too = true,
     .durabilities = all_durabilities,
     .histories = all_histories,
     .dds = true,
     .excluded = {{{{"executor", "second"}, {"policy", "rr"}}, "its threads run at fifo"}}},
    {.kind = Kind::pingpong,
     .transport = "fixed",
     .roles = {Role::pong, Role::ping},
     .fixed_payload_bytes = {64, 4096}},
    {.kind = Kind::timer_oneshot,
     .transport = "clock",
     .roles = {Role::both},
     .waits = {Wait::idle, Wait::busy},
     .reports = true}};

std::optional<Options> parse_line(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "probe_test");
  return parse(static_cast<int>(arguments.size()), arguments.data(), "test", capabilities);
}

TEST(Options, the_first_executor_is_the_default_where_there_are_some) {
  const auto options = parse_line({"pingpong", "--transport", "far", "--role", "ping"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->executor, "first");
  const auto chosen =
      parse_line({"pingpong", "--transport", "far", "--role", "ping", "--executor", "second"});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->executor, "second");
  EXPECT_EQ(parse_line({"wakeup"})->executor, "");
}

TEST(Options, durability_and_history_are_of_those_that_have_them) {
  const std::vector<const char*> quality{"--durability", "transient_local", "--history",
                                         "keep_all"};
  std::vector<const char*> far{"pingpong", "--transport", "far", "--role", "ping"};
  far.insert(far.end(), quality.begin(), quality.end());
  const auto options = parse_line(far);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->durability, Durability::transient_local);
  EXPECT_EQ(options->history, History::keep_all);
  const auto preset =
      parse_line({"pingpong", "--durability", "volatile", "--history", "keep_last"});
  ASSERT_TRUE(preset);
  EXPECT_EQ(preset->durability, Durability::volatile_);
  EXPECT_EQ(preset->history, History::keep_last);
  for (const std::size_t option : {0U, 2U}) {
    try {
      parse_line({"pingpong", quality[option], quality[option + 1]});
      FAIL();
    } catch (const UsageError& refused) {
      EXPECT_NE(std::string{refused.what()}.find(quality[option]), std::string::npos);
    }
  }
}

TEST(Options, defaults_are_those_of_the_contract) {
  const auto options = parse_line({"wakeup"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->kind, Kind::wakeup);
  EXPECT_EQ(options->role, Role::both);
  EXPECT_EQ(options->transport, "nanosleep");
  EXPECT_EQ(options->payload_bytes, 0U);
  EXPECT_EQ(options->period, 1ms);
  EXPECT_EQ(options->count, 1000U);
  EXPECT_EQ(options->timeout, 1ms);
  EXPECT_EQ(options->wait, Wait::idle);
  EXPECT_EQ(options->start_delay, 0ns);
  EXPECT_EQ(options->policy, os::SchedulingPolicy::other);
  EXPECT_EQ(options->priority, 0);
  EXPECT_TRUE(options->cpus.empty());
  EXPECT_EQ(options->lost_after, 500ms);
  EXPECT_EQ(options->time_limit, 60s);
  EXPECT_EQ(options->subscribers, 1U);
  EXPECT_EQ(options->topic, "takt/probe");
  EXPECT_EQ(options->reliability, Reliability::reliable);
  EXPECT_EQ(options->depth, 10U);
  EXPECT_TRUE(options->samples.empty());
  EXPECT_TRUE(options->result.empty());
}

TEST(Options, every_option_arrives_where_it_belongs) {
  const auto options = parse_line(
      {"pingpong",    "--role",          "ping",      "--transport", "far",  "--payload-bytes",
       "500",         "--period-ns",     "2000000",   "--count",     "3000", "--policy",
       "rr",          "--priority",      "98",        "--cpu",       "0",    "--lost-after-ns",
       "1",           "--time-limit-ns", "2",         "--topic",     "a:1",  "--reliability",
       "best_effort", "--depth",         "7",         "--samples",   "s",    "--result",
       "r",           "--late",          "next_cycle"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->role, Role::ping);
  EXPECT_EQ(options->transport, "far");
  EXPECT_EQ(options->payload_bytes, 500U);
  EXPECT_EQ(options->period, 2ms);
  EXPECT_EQ(options->count, 3000U);
  EXPECT_EQ(options->policy, os::SchedulingPolicy::rr);
  EXPECT_EQ(options->priority, 98);
  EXPECT_EQ(options->cpus, std::vector<int>{0});
  EXPECT_EQ(options->lost_after, 1ns);
  EXPECT_EQ(options->time_limit, 2ns);
  EXPECT_EQ(options->topic, "a:1");
  EXPECT_EQ(options->reliability, Reliability::best_effort);
  EXPECT_EQ(options->depth, 7U);
  EXPECT_EQ(options->late, Late::next_cycle);
  EXPECT_EQ(options->samples, "s");
  EXPECT_EQ(options->result, "r");
}

TEST(Options, timers_have_a_timeout_and_a_way_to_wait) {
  const auto options = parse_line(
      {"timer-oneshot", "--timeout-ns", "800000", "--wait", "busy", "--start-delay-ns", "5"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->kind, Kind::timer_oneshot);
  EXPECT_EQ(options->transport, "clock");
  EXPECT_EQ(options->timeout, 800us);
  EXPECT_EQ(options->wait, Wait::busy);
  EXPECT_EQ(options->start_delay, 5ns);
}

TEST(Options, a_supply_is_that_of_a_core) {
  const auto options = parse_line({"supply", "--cpu", "0", "--gaps", "g"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->kind, Kind::supply);
  EXPECT_EQ(options->cpus, std::vector<int>{0});
  EXPECT_EQ(options->gaps, "g");
}

TEST(Options, threads_of_a_dds_have_one_priority_or_two) {
  const auto asked = [](const char* text) {
    const auto options = parse_line({"pingpong", "--transport", "far", "--role", "ping", "--policy",
                                     "fifo", "--priority", "80", "--dds-priority", text});
    const DdsPriority found = options->dds_priority.value();
    return std::tuple{found.least, found.most, to_text(found)};
  };
  EXPECT_EQ(asked("75"), (std::tuple{75, 75, "75"}));
  EXPECT_EQ(asked("70-80"), (std::tuple{70, 80, "70-80"}));
  EXPECT_EQ(asked("1-98"), (std::tuple{1, 98, "1-98"}));
}

struct Wrong {
  std::vector<const char*> arguments;
  const char* named;  // must be in the message
};

// Of a ping with messages of a DDS.
Wrong far(std::vector<const char*> more, const char* named) {
  more.insert(more.begin(), {"pingpong", "--transport", "far", "--role", "ping"});
  return {std::move(more), named};
}

// Of the threads of its DDS.
Wrong threads(const char* priority) {
  return far({"--policy", "fifo", "--priority", "80", "--dds-priority", priority},
             "--dds-priority");
}

class WrongUse : public testing::TestWithParam<Wrong> {};

TEST_P(WrongUse, is_refused_with_the_option_the_reason_and_the_fix) {
  try {
    parse_line(GetParam().arguments);
    FAIL() << "it was accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string{error.what()}.find(GetParam().named), std::string::npos) << error.what();
    EXPECT_FALSE(error.reason().why.empty());
    EXPECT_FALSE(error.reason().fix.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Options, WrongUse,
    testing::Values(
        Wrong{{}, "KIND"}, Wrong{{"sleep"}, "sleep"}, Wrong{{"pubsub"}, "probe_test"},
        Wrong{{"wakeup", "--nonsense"}, "--nonsense"}, Wrong{{"wakeup", "extra"}, "extra"},
        Wrong{{"wakeup", "--count", "0"}, "--count"}, Wrong{{"wakeup", "--count", "-5"}, "--count"},
        Wrong{{"wakeup", "--count", "many"}, "--count"},
        Wrong{{"wakeup", "--count", "1.5"}, "--count"},
        Wrong{{"wakeup", "--count", "99999999999999999999"}, "--count"},
        Wrong{{"wakeup", "--count", "1", "--count", "2"}, "--count"},
        Wrong{{"wakeup", "--count"}, "--count"},
        Wrong{{"wakeup", "--period-ns", "0"}, "--period-ns"},
        Wrong{{"wakeup", "--period-ns", "999"}, "--period-ns"},
        Wrong{{"wakeup", "--lost-after-ns", "0"}, "--lost-after-ns"},
        Wrong{{"wakeup", "--time-limit-ns", "0"}, "--time-limit-ns"},
        Wrong{{"wakeup", "--payload-bytes", "1"}, "--payload-bytes"},
        Wrong{{"wakeup", "--policy", "deadline"}, "--policy"},
        Wrong{{"timer-oneshot", "--timeout-ns", "999"}, "--timeout-ns"},
        Wrong{{"timer-oneshot", "--wait", "long"}, "--wait"},
        Wrong{{"timer-oneshot", "--start-delay-ns", "-1"}, "--start-delay-ns"},
        Wrong{{"wakeup", "--wait", "busy"}, "--wait"},
        Wrong{{"wakeup", "--late", "next_cycle"}, "--late"},
        Wrong{{"wakeup", "--executor", "first"}, "--executor"},
        far({"--executor", "third"}, "--executor"), threads("0"), threads("99"), threads("80-70"),
        threads("70-"), threads("70-80-90"), threads("seventy"), threads("-70"),
        far({"--dds-priority", "75"}, "--dds-priority"),
        Wrong{{"pingpong", "--transport", "near", "--policy", "fifo", "--priority", "80",
               "--dds-priority", "75"},
              "--dds-priority"},
        far({"--dscp", "64"}, "--dscp"), far({"--dscp", "-2"}, "--dscp"),
        far({"--dscp", "ef"}, "--dscp"), Wrong{{"wakeup", "--dscp", "46"}, "--dscp"},
        Wrong{{"wakeup", "--allocator", "tlsf"}, "--allocator"},
        Wrong{{"wakeup", "--allocator", "some"}, "--allocator"},
        Wrong{{"wakeup", "--late", "never"}, "--late"},
        Wrong{{"wakeup", "--interface", "eth1"}, "--interface"},
        Wrong{{"wakeup", "--slaves", "16"}, "--slaves"}, Wrong{{"wakeup", "--gaps", "g"}, "--gaps"},
        Wrong{{"supply"}, "--cpu"},
        Wrong{{"supply", "--cpu", "0", "--period-ns", "999999"}, "--period-ns"},
        Wrong{{"supply", "--cpu", "0", "--period-ns", "1000000001"}, "--period-ns"},
        Wrong{{"wakeup", "--priority", "1"}, "--priority"},
        Wrong{{"wakeup", "--policy", "fifo"}, "--priority"},
        Wrong{{"wakeup", "--policy", "fifo", "--priority", "99"}, "--priority"},
        Wrong{{"wakeup", "--cpu", "-1"}, "--cpu"}, Wrong{{"wakeup", "--cpu", "x"}, "--cpu"},
        Wrong{{"wakeup", "--cpu", "0,"}, "--cpu"}, Wrong{{"wakeup", "--cpu", "0,0,0"}, "--cpu"},
        Wrong{{"wakeup", "--cpu", "100000"}, "--cpu"}, Wrong{{"wakeup", "--cpu", "0-1"}, "--cpu"},
        Wrong{{"wakeup", "--transport", "far"}, "--transport"},
        Wrong{{"wakeup", "--role", "ping"}, "--role"}, Wrong{{"wakeup", "--role", "x"}, "--role"},
        Wrong{{"wakeup", "--reliability", "some"}, "--reliability"},
        Wrong{{"pingpong", "--transport", "near", "--reliability", "best_effort"},
              "its transport decides"},
        far({"--executor", "second", "--policy", "rr", "--priority", "5"}, "--policy rr"),
        Wrong{{"wakeup", "--durability", "some"}, "--durability"},
        Wrong{{"wakeup", "--history", "some"}, "--history"},
        Wrong{{"wakeup", "--history", "keep_all"}, "--history"},
        Wrong{{"wakeup", "--depth", "0"}, "--depth"},
        Wrong{{"wakeup", "--subscribers", "0"}, "--subscribers"},
        Wrong{{"wakeup", "--subscribers", "2"}, "--subscribers"},
        Wrong{{"pingpong", "--transport", "far", "--payload-bytes", "1001"}, "1000"},
        Wrong{{"pingpong", "--transport", "fixed", "--role", "ping"}, "64"},
        Wrong{{"pingpong", "--transport", "fixed", "--payload-bytes", "64"}, "--role"},
        Wrong{{"pingpong", "--transport", "far", "--role", "pong", "--samples", "s"},
              "--samples"}));

}  // namespace
}  // namespace takt::probe
