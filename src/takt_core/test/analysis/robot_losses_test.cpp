// SPDX-License-Identifier: Apache-2.0
//
// Why a chain across processes has no bound: its words name the callback, and what helps.
#include <gtest/gtest.h>

#include "analysis/documents.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

std::string chain(const std::string& act, const std::string& more, int handover, int depth) {
  return app(
      timer("see", 30, 8, 1, ", 'process': 'vision', 'writes': ['found']") +
          ", {'name': 'act', 'process': 'control', 'priority': 1, 'execution': {'worst': 3}, " +
          act + "}" + more,
      ", 'topics': [{'name': 'found', 'depth': " + std::to_string(depth) +
          "}], 'processes': [{'name': 'control', 'cpu': 0, "
          "'priority': 80}, {'name': 'vision', 'cpu': 1, 'priority': 80}], 'handover': {'least': "
          "0, 'most': " +
          std::to_string(handover) + "}, 'chains': [{'name': 'c', 'callbacks': ['see', 'act']}]");
}

ChainReport chain_of(const std::string& act, const std::string& more = "", int handover = 5,
                     int depth = 1) {
  return analyse_json(chain(act, more, handover, depth)).scenarios.front().chains.front();
}

std::string why_not(const ChainReport& chain) {
  EXPECT_FALSE(chain.latency);
  return chain.bound_by;
}

TEST(robot_losses, callbacks_between_which_no_data_goes_are_no_chain) {
  EXPECT_EQ(why_not(chain_of("'period': 10")), "'act' reads nothing that 'see' writes");
  EXPECT_TRUE(chain_of("'period': 10, 'reads': [{'topic': 'found'}]").latency);
}

TEST(robot_losses, a_message_that_may_be_lost_is_named_with_what_keeps_it) {
  const std::string released = "'kind': 'message', 'trigger': 'found', 'deadline': 90";
  EXPECT_TRUE(chain_of(released).latency);
  EXPECT_EQ(why_not(chain_of(released, "", 40)),
            "no bound in process 'control', from 'act' on: a message of topic 'found' may be lost "
            "before 'act' reads it: up to 3 of them come within its response, and each job reads "
            "the newest. Fix: let it catch up (overrun: catch_up), and give the topic a depth of "
            "3");
  EXPECT_TRUE(why_not(chain_of(released + ", 'overrun': 'catch_up'", "", 40))
                  .ends_with("and the topic keeps 1. Fix: give it a depth of 3"));
}

TEST(robot_losses, a_release_of_a_timer_that_may_come_to_nothing_is_named) {
  const std::string slow = "'period': 10, 'deadline': 90, 'reads': [{'topic': 'found'}]";
  EXPECT_TRUE(chain_of(slow).latency);
  const std::string above =
      ", " + timer("more", 60, 9, 2, ", 'process': 'control', 'deadline': 90");
  EXPECT_EQ(why_not(chain_of(slow, above)),
            "no bound in process 'control', from 'act' on: 'act' may still run when it is released "
            "again, so a release may come to nothing");
}

// paint publishes what act reads in place of what see has found: none of that arrives.
TEST(robot_losses, others_may_overwrite_what_a_timer_would_read) {
  const std::string sampled = "'period': 30, 'offset': 20, 'reads': [{'topic': 'found'}]";
  const std::string paint =
      ", " + timer("paint", 30, 1, 2, ", 'process': 'vision', 'offset': 10, 'writes': ['found']");
  const sim::Result run =
      sim::simulate(parsed(chain(sampled, paint, 5, 1)), {.duration = nanoseconds{300}});
  EXPECT_EQ(run.chains.front().latency.count, 0U);
  EXPECT_EQ(why_not(chain_of(sampled, paint)),
            "no bound in process 'control', from 'act' on: other writers of topic 'found' may "
            "overwrite its data before it is read: give the topic more depth");
  EXPECT_TRUE(chain_of(sampled, paint, 5, 4).latency);
}

TEST(robot_losses, what_keeps_a_part_from_a_bound_is_named) {
  const std::string endless =
      ", " + timer("more", 60, 80, 2, ", 'process': 'control', 'deadline': 90");
  EXPECT_EQ(why_not(chain_of("'period': 10, 'reads': [{'topic': 'found'}]", endless)),
            "no bound in process 'control', from 'act' on: 'act' has no bound");
}

}  // namespace
}  // namespace takt::analysis
