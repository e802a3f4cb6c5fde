// SPDX-License-Identifier: Apache-2.0
//
// Bounds and simulated runs against every run of tiny sets that take locks, and in which a source
// is released early or raised to keep `max_age`. By hand as exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "all_runs_raised.hpp"
#include "random_locks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

class RaisedSets : public RandomLocks {
 public:
  using RandomLocks::RandomLocks;

  // Some callback reads what another one writes.
  application::Application draw() {
    application::Application app = make(
        {.least_tasks = 2, .most_tasks = 3, .most_locks = 2, .share = 0.35, .periods = {6, 8, 12}});
    const std::size_t last = app.callbacks.size() - 1;
    const std::size_t source = pick(last);
    const std::size_t reader = source == last ? pick(last - 1) : last;
    application::Callback& writer = app.callbacks[source];
    const sched::TaskParameters& written = writer.task.parameters;
    writer.task.writes = {"data"};
    app.topics.push_back({.name = "data", .depth = 1});
    const std::int64_t youngest = written.expected_execution.count();
    const std::int64_t oldest = written.period.count() + written.deadline.count();
    app.callbacks[reader].task.reads = {
        {.topic = "data", .max_age = nanoseconds{number(youngest, oldest - 1)}}};
    for (application::Callback& callback : app.callbacks) {
      if (chance(0.5)) {
        callback.execution.best = nanoseconds{number(1, callback.execution.worst.count())};
        callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
      }
    }
    return app;
  }

 private:
  std::size_t pick(std::size_t last) {
    return static_cast<std::size_t>(number(0, static_cast<std::int64_t>(last)));
  }
};

std::string text_of_reads(const application::Application& app) {
  std::string result = text(app);
  for (const application::Callback& callback : app.callbacks) {
    for (const sched::Read& read : callback.task.reads) {
      result += "; " + callback.task.name + " allows " + std::to_string(read.max_age.count());
    }
  }
  return result;
}

TEST(EveryRaisedRunWithLocks, keeps_to_its_bounds) {
  const int sets = rounds(80);
  int complete = 0;
  int early = 0;
  int raised = 0;
  int bounded = 0;
  int reached = 0;
  int ages = 0;
  int ages_reached = 0;
  double tightness = 0;
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const application::Application app = RaisedSets{seed}.draw();
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text_of_reads(app));
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    const RaisedRuns runs = RaisedSearch{app}.run();
    complete += runs.complete ? 1 : 0;
    early += runs.early ? 1 : 0;
    raised += runs.raised ? 1 : 0;
    for (std::size_t k = 0; k < runs.responses.size(); ++k) {
      const CallbackReport& callback = report.callbacks[k];
      if (callback.response) {
        const nanoseconds longest{runs.responses[k]};
        EXPECT_LE(longest, *callback.response) << callback.name << " by " << callback.bound_by;
        ++bounded;
        reached += longest == *callback.response ? 1 : 0;
        tightness +=
            static_cast<double>(longest.count()) / static_cast<double>(callback.response->count());
      }
    }
    if (const auto& age = report.ages.front().age) {
      EXPECT_LE(nanoseconds{runs.age}, *age) << report.ages.front().bound_by;
      ++ages;
      ages_reached += nanoseconds{runs.age} == *age ? 1 : 0;
    }
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      const sim::Result run = sim::simulate(app, {.duration = nanoseconds{500},
                                                  .seed = seed,
                                                  .execution = execution,
                                                  .percentiles = false});
      for (std::size_t k = 0; runs.complete && k < run.callbacks.size(); ++k) {
        const sim::CallbackResult& callback = run.callbacks[k];
        EXPECT_LE(callback.response.max, nanoseconds{runs.responses[k]}) << callback.name;
        if (callback.sample_age.count > 0) {
          EXPECT_LE(callback.sample_age.max, nanoseconds{runs.age}) << callback.name;
        }
      }
    }
  }
  EXPECT_GT(complete, sets * 3 / 4);
  EXPECT_GT(early, sets / 2);
  EXPECT_GE(raised, sets / 20);
  EXPECT_GE(reached, sets / 10);
  EXPECT_GT(ages, sets / 2);
  std::cout << complete << " of " << sets << " sets complete, " << early << " with early releases, "
            << raised << " with raised jobs; " << reached << " of " << bounded << " responses and "
            << ages_reached << " of " << ages << " ages reached, the longest response in the mean "
            << tightness / std::max(1, bounded) << " of its bound\n";
}

}  // namespace
}  // namespace takt::analysis
