// SPDX-License-Identifier: Apache-2.0
//
// Sets that the search through all runs has found above a bound, each for what was forgotten in it.
#include <gtest/gtest.h>

#include "analysis/exhaustive_errors.hpp"

namespace takt::analysis {
namespace {

// The reason why the bounds of a set are wrong; empty: they hold.
std::string error_in(const ExhaustiveSet& set) {
  const Report report = analyse(application_of(set), {.sensitivity = false, .proposals = false});
  const Reached reached = reach_all(options_of(set), set.tasks);
  return set.switches ? error_in(set, *report.switches, reached)
                      : error_in(set, report.scenarios.front(), reached);
}

// The releases of c0 that wait for its job before are noticed when that ends, which delays c1.
TEST(exhaustive_found, releases_are_noticed_when_the_job_before_ends) {
  EXPECT_EQ(
      error_in({.policy = "np-fp",
                .rule = Rule::np_fp,
                .tasks = {{.task = {.execution = 1, .period = 4, .deadline = 2, .priority = 1}},
                          {.task = {.execution = 2, .period = 4, .deadline = 4, .priority = 5}}},
                .costs = {.release = 1}}),
      "");
}

}  // namespace
}  // namespace takt::analysis
