// SPDX-License-Identifier: Apache-2.0
//
// Robots of several processes: their bounds against the simulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "analysis/documents.hpp"
#include "analysis/random_robots.hpp"
#include "analysis/simulated_applications.hpp"
#include "takt/sched/error.hpp"

namespace takt::analysis {
namespace {

TEST(robots, nothing_is_above_its_bound) {
  Tally tally;
  int threads = 0;  // robots with some
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(1500));
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    const application::Application robot = random_robot(seed);
    const bool has_threads = std::ranges::any_of(
        robot.processes, [](const application::Process& one) { return !one.threads.empty(); });
    threads += has_threads ? 1 : 0;
    hold_against_simulations(robot, seed, tally);
  }
  EXPECT_GT(threads, rounds(500));
  EXPECT_GT(tally.accepted, rounds(300));
  EXPECT_GT(tally.bounded, rounds(5000));
  EXPECT_GT(tally.chains, rounds(500));
  EXPECT_GT(tally.reached, rounds(100));
}

std::string two(const std::string& control, const std::string& vision,
                const std::string& more = "") {
  return app(
      "{'name': 'act', 'process': 'control', 'period': 10, 'priority': 1, "
      "'execution': {'worst': 3}}, "
      "{'name': 'see', 'process': 'vision', 'period': 30, 'priority': 1, 'execution': "
      "{'worst': 8}, 'writes': ['found']}, "
      "{'name': 'plan', 'process': 'vision', 'period': 60, 'priority': 2, "
      "'execution': {'worst': 5}}",
      ", 'topics': [{'name': 'found'}], 'processes': [{'name': 'control', " + control +
          "}, {'name': 'vision', " + vision + "}]" + more);
}

// act takes 3 of 10 from whatever vision runs: see has begun, and plan waits for it.
TEST(robots, a_process_of_higher_priority_takes_its_time_from_the_one_below) {
  const Report report =
      analyse_json(two("'cpu': 0, 'priority': 80", "'policy': 'np-fp', 'cpu': 0, 'priority': 40"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(callback(scenario, "act").response, nanoseconds{3});
  EXPECT_EQ(callback(scenario, "plan").response, nanoseconds{5 + 8 + 2 * 3});
}

// Within 60 ticks: act at 0, plan, see from 8 on, act at 10, see until 19.
TEST(robots, the_simulator_shares_a_core_between_processes_by_their_priorities) {
  const application::Application robot =
      parsed(two("'cpu': 0, 'priority': 80", "'policy': 'np-fp', 'cpu': 0, 'priority': 40"));
  const sim::Result result = sim::simulate(robot, {.duration = nanoseconds{60}});
  ASSERT_EQ(result.callbacks.size(), 3U);
  EXPECT_EQ(result.callbacks[0].response.max, nanoseconds{3});
  EXPECT_EQ(result.callbacks[1].response.max, nanoseconds{19});
  EXPECT_EQ(result.callbacks[2].response.max, nanoseconds{8});
  ASSERT_EQ(result.cores.size(), 1U);
  EXPECT_EQ(result.cores[0].busy, nanoseconds{6 * 3 + 2 * 8 + 5});
}

TEST(robots, processes_on_cores_of_their_own_do_not_disturb_each_other) {
  const Report report =
      analyse_json(two("'cpu': 0, 'priority': 80", "'policy': 'fp', 'cpu': 1, 'priority': 40"));
  EXPECT_EQ(callback(report.scenarios.front(), "plan").response, nanoseconds{5});
}

TEST(robots, the_same_priority_on_one_core_is_refused) {
  const std::string same = "'cpu': 0, 'priority': 40";
  EXPECT_THROW(parsed(two(same, same)), sched::ScheduleError);
}

TEST(robots, the_handover_is_a_term_of_the_latency) {
  const Report report = analyse_json(
      app("{'name': 'see', 'process': 'vision', 'period': 100, 'priority': 1, 'execution': "
          "{'worst': 8}, 'writes': ['found']}, "
          "{'name': 'act', 'process': 'control', 'kind': 'message', 'trigger': 'found', "
          "'overrun': 'catch_up', 'deadline': 50, 'priority': 1, 'execution': {'worst': 3}}",
          ", 'topics': [{'name': 'found'}], 'handover': {'least': 1, 'most': 20}, "
          "'processes': [{'name': 'vision', 'cpu': 0, 'priority': 40}, "
          "{'name': 'control', 'cpu': 1, 'priority': 40}], "
          "'chains': [{'name': 'brake', 'callbacks': ['see', 'act'], 'max_latency': 40}]"));
  const ChainReport& chain = report.scenarios.front().chains.front();
  EXPECT_EQ(chain.latency, nanoseconds{8 + 20 + 3});
  EXPECT_EQ(chain.verdict, Verdict::meets);
  EXPECT_EQ(chain.bound_by, "vision 8 ns + handover 20 ns + control 3 ns");
  ASSERT_EQ(chain.terms.size(), 3U);
  EXPECT_EQ(chain.terms[0].name, "vision");
  EXPECT_EQ(chain.terms[1].kind, LatencyTerm::Kind::handover);
  EXPECT_EQ(chain.terms[1].name, "act");
  nanoseconds sum{0};
  for (const LatencyTerm& term : chain.terms) {
    sum += term.time;
  }
  EXPECT_EQ(sum, chain.latency);
}

// At 1.75, see takes 14 and act 6, which with the handover of 20 is the limit.
ChainReport chain_to(const std::string& act, const std::string& more = "",
                     const std::string& see = "") {
  const Report report = analyse_json(app(
      "{'name': 'see', 'process': 'vision', 'period': 30, 'priority': 1, 'execution': "
      "{'worst': 8}, 'writes': ['found']" +
          see + "}, {'name': 'act', 'process': 'control', 'priority': 1, 'execution': " +
          "{'worst': 3}, " + act + "}" + more,
      ", 'topics': [{'name': 'found', 'depth': 4}], 'processes': [{'name': 'control', 'cpu': 0, "
      "'priority': 80}, {'name': 'vision', 'cpu': 1, 'priority': 80}, "
      "{'name': 'night', 'cpu': 2, 'priority': 80}], 'handover': {'least': 0, 'most': 20}, "
      "'chains': [{'name': 'brake', 'callbacks': ['see', 'act']}]"));
  return report.scenarios.front().chains.front();
}

const std::string by_message = "'kind': 'message', 'trigger': 'found', 'overrun': 'catch_up'";
const std::string by_timer = "'period': 10, 'reads': [{'topic': 'found'}]";

// see may have just begun when something happens.
TEST(robots, the_reaction_of_a_chain_adds_the_period_of_its_first) {
  EXPECT_EQ(chain_to(by_message).reaction, nanoseconds{8 + 20 + 3 + 30});
  EXPECT_EQ(chain_to(by_timer).reaction, nanoseconds{8 + 20 + 10 + 3 + 30});
}

// What act reads is used until the next has come, 30 later.
TEST(robots, the_age_of_a_chain_adds_how_long_data_is_used) {
  EXPECT_EQ(chain_to(by_message).age, nanoseconds{8 + 20 + 3});
  EXPECT_EQ(chain_to(by_timer).age, nanoseconds{8 + 20 + 30 + 3});
}

// Its jobs for another writer go on with what see published before.
TEST(robots, data_is_used_longer_where_others_release_its_reader) {
  const std::string other =
      ", {'name': 'look', 'process': 'night', 'period': 90, 'priority': 1, "
      "'execution': {'worst': 1}, 'writes': ['found']}";
  const ChainReport chain = chain_to(by_message + ", 'deadline': 90", other);
  ASSERT_TRUE(chain.latency) << chain.bound_by;
  EXPECT_EQ(chain.age, *chain.latency + nanoseconds{30});
  EXPECT_FALSE(chain_to(by_timer, other).age) << "it may be overwritten";
}

// A publication of a join has the data of several timers, and is used until the next one.
TEST(robots, data_of_a_join_that_a_timer_reads_in_another_process_has_no_age) {
  const auto chain = [](const std::string& act) {
    const std::string joined =
        ", 'process': 'vision', 'node': 'fusion', 'join': 'both', 'deadline': 30, 'writes': "
        "['fused']";
    const Report report = analyse_json(app(
        timer("left", 30, 1, 4, ", 'process': 'vision', 'writes': ['l']") + ", " +
            timer("right", 30, 1, 3, ", 'process': 'vision', 'writes': ['r']") + ", " +
            message("fusion.l", "l", 1, 2, joined) + ", " + message("fusion.r", "r", 1, 1, joined) +
            ", {'name': 'act', 'process': 'control', 'priority': 1, 'execution': "
            "{'worst': 3}, " +
            act + "}",
        ", 'topics': [{'name': 'l'}, {'name': 'r'}, {'name': 'fused'}], 'processes': "
        "[{'name': 'control', 'cpu': 0, 'priority': 80}, {'name': 'vision', 'cpu': 1, "
        "'priority': 80}], 'chains': [{'name': 'see', 'callbacks': ['left', 'fusion.l', "
        "'act']}]"));
    return report.scenarios.front().chains.front();
  };
  const ChainReport read = chain("'period': 10, 'reads': [{'topic': 'fused'}]");
  EXPECT_TRUE(read.latency && read.reaction) << read.bound_by;
  EXPECT_FALSE(read.age);
  const ChainReport released = chain("'kind': 'message', 'trigger': 'fused', 'deadline': 30");
  EXPECT_EQ(released.age, released.latency);
}

// see's message releases look, and act reads what that has found: until the next has come the
// same way, 30 later.
TEST(robots, what_a_message_of_another_process_led_to_is_read_until_the_next) {
  const auto report = [](const std::string& links) {
    return analyse_json(app(
        timer("see", 30, 8, 1, ", 'process': 'vision', 'writes': ['seen']") + ", " +
            message("look", "seen", 4, 2, ", 'process': 'control', 'writes': ['found']") + ", " +
            timer("act", 50, 3, 1, ", 'process': 'control', 'reads': [{'topic': 'found'}]"),
        ", 'topics': [{'name': 'seen', 'depth': 4}, {'name': 'found'}], 'processes': [{'name': "
        "'control', 'cpu': 0, 'priority': 80" +
            links + ", 'chains': [{'name': 'see', 'callbacks': ['see', 'look', 'act']}]"));
  };
  const std::string here =
      "}, {'name': 'vision', 'cpu': 1, 'priority': 80}], 'handover': {'least': 0, 'most': 20}";
  const Report known = report(here);
  const ChainReport& chain = known.scenarios.front().chains.front();
  ASSERT_TRUE(chain.latency) << chain.bound_by;
  // In vision 8, then 30 until the next is sent and 20 until look, which goes first, knows of it.
  EXPECT_EQ(chain.age, nanoseconds{8 + 30 + 20 + (3 + 4)});
  EXPECT_TRUE(known.scenarios.front().remarks.empty());
  const Report lossy = report(
      ", 'host': 'base'}, {'name': 'vision', 'host': 'head', 'cpu': 1, 'priority': 80}], 'links': "
      "[{'hosts': ['base', 'head'], 'least': 0, 'most': 20, 'loss': 1000}]");
  EXPECT_FALSE(lossy.scenarios.front().chains.front().age);
  EXPECT_TRUE(contains(lossy.scenarios.front().remarks, "links may lose the data"));
}

TEST(robots, the_factor_on_execution_times_keeps_the_latency_of_a_chain) {
  const Report report = analyse_json(
      app("{'name': 'see', 'process': 'vision', 'period': 100, 'priority': 1, 'execution': "
          "{'worst': 8}, 'writes': ['found']}, "
          "{'name': 'act', 'process': 'control', 'kind': 'message', 'trigger': 'found', "
          "'overrun': 'catch_up', 'deadline': 50, 'priority': 1, 'execution': {'worst': 3}}",
          ", 'topics': [{'name': 'found'}], 'handover': {'least': 1, 'most': 20}, "
          "'processes': [{'name': 'vision', 'cpu': 0, 'priority': 40}, "
          "{'name': 'control', 'cpu': 1, 'priority': 40}], "
          "'chains': [{'name': 'brake', 'callbacks': ['see', 'act'], 'max_latency': 40}]"));
  const std::optional<Sensitivity>& found = report.scenarios.front().sensitivity;
  ASSERT_TRUE(found && found->all);
  EXPECT_GT(*found->all, 1.74);
  EXPECT_LE(*found->all, 1.75);
}

// Behind plan and act, see takes more than 10.
TEST(robots, the_factor_is_below_one_where_nothing_is_guaranteed) {
  const Report report =
      analyse_json(two("'cpu': 0, 'priority': 80", "'policy': 'np-fp', 'cpu': 0, 'priority': 40",
                       ", 'chains': [{'name': 'late', 'callbacks': ['see'], "
                       "'max_latency': 10}]"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(report.verdict, Verdict::not_proved);
  ASSERT_TRUE(scenario.sensitivity && scenario.sensitivity->all);
  EXPECT_LT(*scenario.sensitivity->all, 1);
  EXPECT_GT(*scenario.sensitivity->all, 0.1);
}

// Between two reads come 3 messages of other, and one more where long has held it up.
TEST(robots, messages_that_another_process_sends_late_may_overwrite_data) {
  const auto chain = [](int held_up) {
    const Report report = analyse_json(app(
        "{'name': 'long', 'process': 'a', 'period': 400, 'priority': 2, 'execution': {'worst': " +
            std::to_string(held_up) +
            "}}, {'name': 'other', 'process': 'a', 'period': 50, 'priority': 1, 'overrun': "
            "'catch_up', 'deadline': 300, 'execution': {'worst': 5}, 'writes': ['t']}, "
            "{'name': 'write', 'process': 'b', 'period': 100, 'priority': 2, 'execution': "
            "{'worst': 1}, 'writes': ['t']}, "
            "{'name': 'read', 'process': 'b', 'period': 100, 'priority': 1, 'execution': "
            "{'worst': 1}, 'reads': [{'topic': 't'}]}",
        ", 'topics': [{'name': 't', 'depth': 4}], 'processes': ["
        "{'name': 'a', 'cpu': 0, 'priority': 40}, {'name': 'b', 'cpu': 1, 'priority': 40}], "
        "'chains': [{'name': 'data', 'callbacks': ['write', 'read']}]"));
    return report.scenarios.front().chains.front();
  };
  EXPECT_TRUE(chain(1).latency) << chain(1).bound_by;
  EXPECT_FALSE(chain(90).latency);
  EXPECT_TRUE(chain(90).bound_by.starts_with("other writers of topic 't'")) << chain(90).bound_by;
}

TEST(robots, a_bound_names_the_processes_above) {
  const Report report =
      analyse_json(two("'cpu': 0, 'priority': 80", "'policy': 'np-fp', 'cpu': 0, 'priority': 40"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_TRUE(callback(scenario, "plan")
                  .bound_by.ends_with("; processes above (Davis & Burns "
                                      "2005), eq. 18"));
  EXPECT_TRUE(callback(scenario, "act").bound_by.ends_with("eq. 2"));
  EXPECT_EQ(scenario.cores[0].bound_by, "process 'control'");
  EXPECT_EQ(scenario.cores[1].bound_by, "process 'vision', below 'control'");
}

TEST(robots, messages_that_nothing_bounds_are_named_with_their_writer) {
  const Report report = analyse_json(
      app("{'name': 'see', 'process': 'vision', 'kind': 'message', 'trigger': 'light', "
          "'overrun': 'catch_up', 'deadline': 50, 'priority': 1, 'execution': {'worst': 8}, "
          "'writes': ['found']}, "
          "{'name': 'act', 'process': 'control', 'kind': 'message', 'trigger': 'found', "
          "'overrun': 'catch_up', 'deadline': 50, 'priority': 1, 'execution': {'worst': 3}}",
          ", 'topics': [{'name': 'found'}, {'name': 'light', 'external': true}], "
          "'processes': [{'name': 'vision', 'cpu': 0, 'priority': 40}, "
          "{'name': 'control', 'cpu': 1, 'priority': 40}]"));
  const std::vector<std::string>& remarks = report.scenarios.front().remarks;
  EXPECT_TRUE(
      contains(remarks,
               "process 'control': nothing bounds the messages on topic 'found' by 'see' of "
               "process 'vision'"));
  EXPECT_FALSE(contains(remarks, "from outside"));
}

// Three from outside at once, and one of see.
TEST(robots, a_burst_from_outside_on_a_topic_that_another_process_writes_counts_as_a_whole) {
  const application::Application robot = parsed(
      app(timer("see", 400, 1, 1, ", 'process': 'vision', 'writes': ['found']") + ", " +
              message("act", "found", 3, 1, ", 'process': 'control', 'deadline': 90"),
          ", 'topics': [{'name': 'found', 'depth': 8, 'external': true, 'external_period': 100, "
          "'external_burst': 3}], 'processes': [{'name': 'vision', 'cpu': 0, 'priority': 40}, "
          "{'name': 'control', 'cpu': 1, 'priority': 40}]"));
  const sim::Result played = sim::simulate(robot, {.duration = nanoseconds{1000}});
  const nanoseconds longest = played.callbacks[1].response.max;
  EXPECT_EQ(longest, nanoseconds{4 * 3 - 1});
  EXPECT_GE(callback(analyse(robot).scenarios.front(), "act").response, longest);
}

// See, then the thread of control's process, then act: each on a core of its own, unless said.
std::string received(const std::string& threads, const std::string& act = by_message) {
  return app(
      "{'name': 'see', 'process': 'vision', 'period': 100, 'priority': 1, 'execution': "
      "{'worst': 8}, 'writes': ['found']}, {'name': 'act', 'process': 'control', "
      "'priority': 1, 'execution': {'worst': 3}, " +
          act + "}",
      ", 'topics': [{'name': 'found', 'depth': 4}], 'handover': {'least': 1, 'most': 20}, "
      "'processes': [{'name': 'vision', 'cpu': 0, 'priority': 40}, "
      "{'name': 'control', 'cpu': 1, 'priority': 40, 'threads': [" +
          threads + "]}], 'chains': [{'name': 'brake', 'callbacks': ['see', 'act']}]");
}

const std::string dds =
    "{'name': 'dds', 'priority': 80, 'receives': [{'topic': 'found', 'execution': {'worst': 5}}]";

// 8 of see, 20 on the way, 5 in the thread, 3 of act. On the core of its process the thread may
// come once more before act has ended, for all that the bound knows.
TEST(robots, a_thread_that_receives_a_topic_is_a_term_of_the_latency) {
  const application::Application robot = parsed(received(dds + ", 'cpu': 2}"));
  const Report report = analyse(robot);
  const ScenarioReport& scenario = report.scenarios.front();
  const ChainReport& chain = scenario.chains.front();
  EXPECT_EQ(chain.latency, nanoseconds{8 + 20 + 5 + 3});
  EXPECT_EQ(chain.bound_by,
            "vision 8 ns + handover 20 ns + thread control.dds 5 ns + control 3 ns");
  EXPECT_EQ(chain.callbacks, (std::vector<std::string>{"see", "control.dds.found", "act"}));
  ASSERT_EQ(chain.terms.size(), 4U);
  EXPECT_EQ(chain.terms[2].kind, LatencyTerm::Kind::thread);
  EXPECT_EQ(callback(scenario, "control.dds.found").response, nanoseconds{20 + 5});
  EXPECT_EQ(callback(scenario, "act").response, nanoseconds{3}) << "released at the thread's end";
  for (const auto& simulated : {robot, parsed(received(dds + "}"))}) {
    const sim::Result result = sim::simulate(simulated, {.duration = nanoseconds{1000}});
    EXPECT_EQ(result.chains.front().latency.max, nanoseconds{8 + 20 + 5 + 3});
  }
  EXPECT_EQ(analyse_json(received(dds + "}")).scenarios.front().chains.front().latency,
            nanoseconds{8 + 20 + 5 + (3 + 5)});
}

TEST(robots, a_thread_takes_its_time_from_the_processes_below_it_on_its_core) {
  const std::string turn =
      ", 'deadline': 99}, {'name': 'turn', 'process': 'control', 'period': "
      "50, 'priority': 2, 'execution': {'worst': 10}";
  const auto response = [&](const std::string& thread) {
    const Report report = analyse_json(received(thread, by_message + turn));
    return callback(report.scenarios.front(), "turn").response;
  };
  EXPECT_EQ(response(dds + "}"), nanoseconds{15});
  EXPECT_EQ(response(dds + ", 'cpu': 2}"), nanoseconds{10});
  EXPECT_EQ(response("{'name': 'usb', 'priority': 80, 'period': 12, 'jitter': 1, 'execution': "
                     "{'worst': 2}}"),
            nanoseconds{14});
}

// act, for the message before, goes first.
TEST(robots, a_thread_below_its_process_waits_for_it) {
  const std::string low =
      "{'name': 'dds', 'priority': 20, 'receives': [{'topic': 'found', 'execution': {'worst': "
      "5}}]}";
  const Report report = analyse_json(received(low));
  EXPECT_EQ(report.scenarios.front().chains.front().bound_by,
            "vision 8 ns + handover 20 ns + thread control.dds 8 ns + control 3 ns");
}

TEST(robots, a_chain_may_begin_with_a_driver_whose_messages_come_at_once) {
  const Report report = analyse_json(
      app(message("act", "frame", 3, 1, ", 'process': 'control', 'deadline': 90"),
          ", 'topics': [{'name': 'frame'}], 'handover': {'least': 1, 'most': 20}, 'processes': "
          "[{'name': 'control', 'cpu': 0, 'priority': 40, 'threads': [{'name': 'usb', 'cpu': 1, "
          "'priority': 80, 'period': 100, 'execution': {'worst': 6}, 'writes': ['frame']}]}], "
          "'chains': [{'name': 'see', 'callbacks': ['control.usb', 'act']}]"));
  EXPECT_EQ(report.scenarios.front().chains.front().bound_by,
            "thread control.usb 6 ns + control 3 ns");
}

TEST(robots, the_factor_on_execution_times_scales_threads_too) {
  const auto factor = [](const std::string& thread) {
    const Report report = analyse_json(
        app("{'name': 'act', 'process': 'control', 'period': 10, 'priority': 1, 'execution': "
            "{'worst': 2}}",
            ", 'processes': [{'name': 'control', 'priority': 40, 'threads': [" + thread + "]}]"));
    return report.scenarios.front().sensitivity->all.value_or(0);
  };
  EXPECT_NEAR(factor(""), 5, 0.01);
  EXPECT_NEAR(factor("{'name': 'usb', 'priority': 80, 'period': 10, 'execution': {'worst': 2}}"),
              2.5, 0.01);
}

TEST(robots, threads_that_cannot_be_are_refused) {
  const std::string work = "'execution': {'worst': 5}";
  for (const std::string& wrong : {
           std::string{"{'name': 'dds', 'priority': 80}"},  // does nothing
           dds + "}, {'name': 'two', 'priority': 81, 'receives': [{'topic': 'found', " + work +
               "}]}",                                                              // which?
           dds + "}, {'name': 'dds', 'priority': 81, 'period': 9, " + work + "}",  // two names
           dds + ", 'period': 9, " + work + "}",                                   // both
           "{'name': 'dds', 'priority': 80, 'receives': [{'topic': 'lost', " + work + "}]}",
           "{'name': 'dds', 'priority': 99, 'receives': [{'topic': 'found', " + work + "}]}",
           "{'name': 'dds', 'priority': 40, 'receives': [{'topic': 'found', " + work + "}]}",
       }) {
    EXPECT_THROW(parsed(received(wrong)), sched::ScheduleError) << wrong;
  }
}

}  // namespace
}  // namespace takt::analysis
