// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/batch.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/documents.hpp"
#include "analysis/oracle.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/analysis/core.hpp"

namespace takt::analysis {
namespace {

TEST(batch, answers_are_those_of_one_set_at_a_time) {
  RandomTasks random{1};
  std::vector<std::int64_t> first = {0};
  std::vector<std::int64_t> period;
  std::vector<std::int64_t> deadline;
  std::vector<std::int64_t> wcet;
  std::vector<std::int64_t> priority;
  std::vector<std::vector<OracleTask>> all;
  for (int round = 0; round < 500; ++round) {
    all.push_back(random.tasks({.most_tasks = 6}));
    for (const OracleTask& task : all.back()) {
      period.push_back(task.period);
      deadline.push_back(task.deadline);
      wcet.push_back(task.execution);
      priority.push_back(task.priority);
    }
    first.push_back(static_cast<std::int64_t>(period.size()));
  }
  const std::pair<Rule, std::string_view> policies[] = {
      {Rule::fp, "fp"}, {Rule::np_fp, "np-fp"}, {Rule::edf, "edf"}, {Rule::np_edf, "np-edf"}};
  for (const auto& [rule, policy] : policies) {
    const auto answers = analyse_sets({.policy = policy,
                                       .first = first,
                                       .period = period,
                                       .deadline = deadline,
                                       .wcet = wcet,
                                       .priority = priority});
    ASSERT_EQ(answers.size(), all.size());
    const analysis::Test test = rule == Rule::edf      ? analysis::Test::edf
                                : rule == Rule::np_edf ? analysis::Test::non_preemptive_edf
                                                       : analysis::Test::fixed_priority;
    for (std::size_t i = 0; i < all.size(); ++i) {
      Effort effort;
      const auto expected = accepts(test, demands_of(rule, all[i]), effort);
      EXPECT_EQ(answers[i], *expected ? 1 : 0) << policy << " " << text(all[i]);
    }
  }
}

// What is accepted is accepted by a whole analysis, too, and what is not may be kept by idling.
TEST(batch, policies_that_idle_accept_what_the_same_order_without_idling_keeps) {
  RandomTasks random{2};
  int accepted = 0;
  int graphs = 0;  // accepted by these alone
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> period;
    std::vector<std::int64_t> deadline;
    std::vector<std::int64_t> wcet;
    std::string callbacks;
    const auto count = random.number(2, 4);
    for (std::int64_t i = 0; i < count; ++i) {
      period.push_back(4 * random.number(1, 5));
      deadline.push_back(random.number(period.back() / 2, period.back()));
      wcet.push_back(random.number(1, 1 + deadline.back() / (count + 1)));
      callbacks +=
          (i > 0 ? "," : "") + timer("t" + std::to_string(i), static_cast<int>(period.back()),
                                     static_cast<int>(wcet.back()), 1,
                                     ", 'deadline': " + std::to_string(deadline.back()));
    }
    const std::vector<std::int64_t> first = {0, count};
    for (const std::string policy : {"p-rm", "cw-edf"}) {
      const Sets sets{.policy = policy,
                      .first = first,
                      .period = period,
                      .deadline = deadline,
                      .wcet = wcet,
                      .priority = wcet};
      const std::uint8_t answer = analyse_sets(sets).front();
      const Report whole =
          analyse(parsed(app(callbacks, ", 'policy': '" + policy + "'")), {.proposals = false});
      const bool meets = whole.verdict == Verdict::meets;
      ASSERT_NE(answer, 0) << callbacks;
      ASSERT_TRUE(answer == 2 || meets) << policy << " " << callbacks;
      if (policy == "cw-edf") {
        Sets without = sets;
        without.policy = "np-edf";
        EXPECT_EQ(answer == 1, analyse_sets(without).front() == 1) << callbacks;
      }
      accepted += answer == 1 ? 1 : 0;
      graphs += answer == 2 && meets ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(graphs, 10);
}

TEST(batch, columns_that_do_not_fit_together_are_refused) {
  const std::vector<std::int64_t> first = {0, 2};
  const std::vector<std::int64_t> two = {5, 5};
  const std::vector<std::int64_t> one = {5};
  const auto ask = [&](const std::vector<std::int64_t>& priority, std::string_view policy) {
    return analyse_sets({.policy = policy,
                         .first = first,
                         .period = two,
                         .deadline = two,
                         .wcet = two,
                         .priority = priority});
  };
  EXPECT_EQ(ask(two, "edf").size(), 1U);
  EXPECT_THROW(ask(one, "edf"), std::invalid_argument);
  EXPECT_EQ(ask(two, "cw-edf").size(), 1U);
  const std::vector<std::int64_t> longer = {6, 5};
  EXPECT_THROW(analyse_sets({.policy = "cw-edf",
                             .first = first,
                             .period = two,
                             .deadline = longer,
                             .wcet = two,
                             .priority = two}),
               std::invalid_argument);
}

}  // namespace
}  // namespace takt::analysis
