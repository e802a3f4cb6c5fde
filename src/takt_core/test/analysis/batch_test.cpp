// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/batch.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

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
  EXPECT_THROW(ask(two, "cw-edf"), std::invalid_argument);
}

}  // namespace
}  // namespace takt::analysis
