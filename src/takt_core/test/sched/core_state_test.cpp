// SPDX-License-Identifier: Apache-2.0
//
// The state of a core under random sequences of everything that can happen to it, against what each
// decision means, looked up job by job.
#include "takt/sched/core_state.hpp"

#include "../policies.hpp"
#include "core_world.hpp"

namespace takt::sched {
namespace {

class CoreStates : public ::testing::TestWithParam<std::string> {};

TEST_P(CoreStates, decide_rightly_whatever_happens) {
  int asked = 0;
  int boosts = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    World world{GetParam(), seed};
    for (int step = 0; step < 200; ++step) {
      world.step();
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << ", step " << step;
    }
    world.expect_nothing_lost();
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    asked += world.asked();
    boosts += world.boosts();
  }
  const PolicyPtr policy = parse_policy(GetParam());
  EXPECT_GT(asked, 0);
  EXPECT_EQ(boosts > 0, policy->fixed_priority() && policy->preemptive());
}

TEST_P(CoreStates, decide_alike_when_a_message_is_released_at_once) {
  int messages = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    World later{GetParam(), seed};
    World at_once{GetParam(), seed, true};
    for (int step = 0; step < 200; ++step) {
      later.step();
      at_once.step();
    }
    at_once.expect_same(later);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
    messages += at_once.messages();
  }
  EXPECT_EQ(messages > 0, GetParam() != "p-rm");  // which has timers alone
}

INSTANTIATE_TEST_SUITE_P(Policies, CoreStates,
                         ::testing::Values("fp", "rm", "dm", "edf", "np-fp", "np-edf", "p-rm",
                                           "cw-edf"),
                         test::policy_name);

}  // namespace
}  // namespace takt::sched
