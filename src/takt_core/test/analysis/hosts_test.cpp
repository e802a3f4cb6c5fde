// SPDX-License-Identifier: Apache-2.0
//
// Robots of several hosts: cores of one number are not one core, and links are terms of latencies.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "analysis/documents.hpp"
#include "takt/sched/error.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

// see on the pc sends to act on the motors, beside turn; both processes name core 0.
std::string robot(const std::string& links, const std::string& more = "",
                  const std::string& control = "'host': 'motors', 'cpu': 0, 'priority': 40") {
  return app(timer("see", 100, 8, 1, ", 'process': 'vision', 'writes': ['found']") + ", " +
                 message("act", "found", 3, 2, ", 'process': 'control', 'deadline': 90") + ", " +
                 timer("turn", 50, 4, 1, ", 'process': 'control'"),
             ", 'topics': [{'name': 'found'}], 'handover': {'least': 1, 'most': 2}, 'processes': ["
             "{'name': 'vision', 'host': 'pc', 'cpu': 0, 'priority': 40}, "
             "{'name': 'control', " +
                 control + "}]" + links + more +
                 ", 'chains': [{'name': 'brake', 'callbacks': ['see', 'act'], "
                 "'max_latency': 60}]");
}

std::string link(const std::string& more = "") {
  return ", 'links': [{'hosts': ['motors', 'pc'], 'least': 5, 'most': 20" + more + "}]";
}

TEST(Hosts, cores_of_one_number_on_two_hosts_are_two) {
  const Report report = analyse_json(robot(link()));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(callback(scenario, "see").response, nanoseconds{8});
  EXPECT_EQ(callback(scenario, "turn").response, nanoseconds{7});
  ASSERT_EQ(scenario.cores.size(), 2U);
  EXPECT_EQ(scenario.cores[0].host, "pc");
  EXPECT_EQ(scenario.cores[1].host, "motors");
  EXPECT_EQ(scenario.cores[1].cpu, 0);
  EXPECT_EQ(callback(scenario, "act").host, "motors");
}

TEST(Hosts, a_link_is_a_term_of_the_latency) {
  const Report report = analyse_json(robot(link()));
  const ChainReport& chain = report.scenarios.front().chains.front();
  EXPECT_EQ(chain.latency, nanoseconds{8 + 20 + 3});
  EXPECT_EQ(chain.bound_by, "vision 8 ns + link 20 ns + control 3 ns");
  ASSERT_EQ(chain.terms.size(), 3U);
  EXPECT_EQ(chain.terms[1].kind, LatencyTerm::Kind::link);
  EXPECT_EQ(chain.loss, 0);
  EXPECT_TRUE(contains(report.remarks, "hosts 'motors' and 'pc' arrives within 20 ns"));
  EXPECT_TRUE(
      contains(report.remarks, "the clocks of hosts 'motors' and 'pc' run at the same rate"));
  EXPECT_FALSE(contains(report.remarks, "another process of its host")) << "neither has two";
}

TEST(Hosts, within_a_host_the_handover_counts) {
  const Report report = analyse_json(robot("", "", "'host': 'pc', 'cpu': 1, 'priority': 40"));
  EXPECT_EQ(report.scenarios.front().chains.front().bound_by,
            "vision 8 ns + handover 2 ns + control 3 ns");
  EXPECT_TRUE(contains(report.remarks, "a message reaches another process within 2 ns"));
}

TEST(Hosts, the_share_that_links_lose_is_reported) {
  const Report report = analyse_json(robot(link(", 'loss': 1000, 'measured': 3000")));
  const ChainReport& chain = report.scenarios.front().chains.front();
  EXPECT_EQ(chain.loss, 1000);
  EXPECT_EQ(chain.verdict, Verdict::meets);
  EXPECT_FALSE(chain.reaction) << "what act reacts to may never arrive";
  EXPECT_EQ(chain.age, chain.latency);
  EXPECT_TRUE(contains(report.remarks, "or is lost (at most 0.1 %), as 3000 measured ones did"));
}

// There and back: nothing says that the second loses what the first has lost.
TEST(Hosts, losses_of_several_links_add_up) {
  const Report report = analyse_json(
      app(timer("ask", 100, 1, 1, ", 'process': 'a', 'writes': ['question']") + ", " +
              message("think", "question", 2, 1,
                      ", 'process': 'b', 'deadline': 90, 'writes': ['answer']") +
              ", " + message("act", "answer", 3, 2, ", 'process': 'a', 'deadline': 90"),
          ", 'topics': [{'name': 'question'}, {'name': 'answer'}], 'processes': ["
          "{'name': 'a', 'host': 'one', 'priority': 40}, "
          "{'name': 'b', 'host': 'two', 'priority': 40}], 'links': [{'hosts': ['one', 'two'], "
          "'most': 10, 'loss': 200000}], "
          "'chains': [{'name': 'round', 'callbacks': ['ask', 'think', 'act']}]"));
  EXPECT_EQ(report.scenarios.front().chains.front().loss, 400'000);
}

// The join waits for both inputs, so a message that never comes has no bound.
TEST(Hosts, nothing_bounds_the_wait_for_messages_that_a_link_may_lose) {
  const auto chain = [](const std::string& loss) {
    const std::string joined =
        ", 'process': 'b', 'deadline': 90, 'node': 'fusion', 'join': 'both', 'writes': ['fused']";
    const Report report = analyse_json(app(
        timer("left", 100, 1, 2, ", 'process': 'a', 'writes': ['l']") + ", " +
            timer("right", 100, 1, 1, ", 'process': 'a', 'writes': ['r']") + ", " +
            message("fusion.l", "l", 2, 2, joined) + ", " + message("fusion.r", "r", 2, 1, joined) +
            ", " + message("act", "fused", 3, 3, ", 'process': 'b', 'deadline': 90"),
        ", 'topics': [{'name': 'l'}, {'name': 'r'}, {'name': 'fused'}], 'processes': ["
        "{'name': 'a', 'host': 'one', 'priority': 40}, "
        "{'name': 'b', 'host': 'two', 'priority': 40}], 'links': [{'hosts': ['one', 'two'], "
        "'most': 10" +
            loss + "}], 'chains': [{'name': 'c', 'callbacks': ['left', 'fusion.l', 'act']}]"));
    return report.scenarios.front().chains.front();
  };
  EXPECT_TRUE(chain("").latency) << chain("").bound_by;
  EXPECT_FALSE(chain(", 'loss': 1").latency);
}

// By the clock of the motors: at most 10 % longer there, and messages come up to 10 % more often.
TEST(Hosts, a_clock_that_drifts_stretches_what_is_on_the_other_host) {
  const Report report = analyse_json(robot(link(", 'drift': 100000")));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(scenario.chains.front().bound_by, "vision 8 ns + link 20 ns + control 4 ns");
  EXPECT_EQ(callback(scenario, "act").period, nanoseconds{90});
  EXPECT_EQ(callback(scenario, "see").period, nanoseconds{100});
  EXPECT_TRUE(contains(report.remarks, "clocks of hosts 'motors' and 'pc' differ by at most 10 %"));
}

TEST(Hosts, what_cannot_be_is_refused) {
  for (const std::string& wrong : {
           robot(""),                                                    // no link
           robot(", 'links': [{'hosts': ['pc', 'cloud'], 'most': 1}]"),  // nobody there
           robot(", 'links': [{'hosts': ['pc', 'pc'], 'most': 1}]"),     // no other end
           robot(link(), "", "'cpu': 0, 'priority': 40"),                // somewhere
           robot(", 'links': [{'hosts': ['pc', 'motors'], 'most': 1}, "  // which?
                 "{'hosts': ['motors', 'pc'], 'most': 2}]"),
       }) {
    EXPECT_THROW(analyse_json(wrong), sched::ScheduleError) << wrong;
  }
  for (const std::string& wrong :
       {robot(", 'links': [{'hosts': ['pc'], 'most': 1}]"), robot(link(", 'loss': 1000000")),
        robot(", 'links': [{'hosts': ['pc', 'motors'], 'least': 2, 'most': 1}]")}) {
    EXPECT_THROW(parsed(wrong), application::ParseError) << wrong;
  }
}

TEST(Hosts, the_simulator_keeps_their_cores_apart) {
  const sim::Result result = sim::simulate(parsed(robot(link())), {.duration = nanoseconds{1000}});
  ASSERT_EQ(result.cores.size(), 2U);
  EXPECT_EQ(result.cores[0].host, "pc");
  EXPECT_EQ(result.cores[0].busy, nanoseconds{10 * 8});
  EXPECT_EQ(result.cores[1].host, "motors");
  EXPECT_EQ(result.cores[1].cpu, 0);
  EXPECT_EQ(result.callbacks[0].response.max, nanoseconds{8});
  EXPECT_EQ(result.callbacks[1].host, "motors");
}

// slow needs a core of its own; there is one on its host, and one on the other.
TEST(Hosts, a_process_is_proposed_for_cores_of_its_own_host) {
  const std::string document =
      app(timer("fast", 10, 4, 1, ", 'process': 'a'") + ", " +
              timer("slow", 100, 70, 1, ", 'process': 'b'") + ", " +
              timer("idle", 100, 1, 1, ", 'process': 'c'") + ", " +
              timer("far", 100, 1, 1, ", 'process': 'd'"),
          ", 'processes': [{'name': 'a', 'host': 'pc', 'cpu': 0, 'priority': 80}, "
          "{'name': 'b', 'host': 'pc', 'cpu': 0, 'priority': 40}, "
          "{'name': 'c', 'host': 'pc', 'cpu': 2, 'priority': 40}, "
          "{'name': 'd', 'host': 'motors', 'cpu': 1, 'priority': 40}]");
  const auto found = analyse(parsed(document), {.sensitivity = false}).scenarios.front().processes;
  ASSERT_EQ(found.size(), 4U);
  const std::set<std::pair<std::string, int>> places = {{"pc", 0}, {"pc", 2}, {"motors", 1}};
  for (const application::Process& process : found) {
    EXPECT_TRUE(places.contains({process.host, process.cpu})) << process.name;
  }
  EXPECT_NE(found[0].cpu, found[1].cpu);
  EXPECT_EQ(found[3].host, "motors");
}

}  // namespace
}  // namespace takt::analysis
