// SPDX-License-Identifier: Apache-2.0
//
// Bounds on a core that is not always there, against every run with every supply, and every pattern
// of interrupts, that its declaration allows.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <string>

#include "../policies.hpp"
#include "analysis/exhaustive.hpp"
#include "analysis/exhaustive_draw_wide.hpp"
#include "analysis/exhaustive_errors.hpp"

namespace takt::analysis {
namespace {

class SupplySets : public WideSets {
 public:
  using WideSets::WideSets;

  // Those that have bounds, mostly, of two or three tasks: else there are too many runs.
  ExhaustiveSet draw_limited(const std::string& policy) {
    for (;;) {
      ExhaustiveSet set = ExhaustiveSets::draw(policy, 0.7);
      limit(set);
      double share = 0;
      for (const ExhaustiveTask& entry : set.tasks) {
        share += static_cast<double>(entry.task.execution + set.costs.dispatch) /
                 static_cast<double>(entry.task.period);
      }
      if (set.tasks.size() <= 3 && share < 0.95 * rate_of(set.core)) {
        return set;
      }
    }
  }

  // Callbacks that wait, overheads, chains, ages and switches.
  ExhaustiveSet draw_wide(const std::string& policy) {
    ExhaustiveSet set = draw(policy);
    const Costs costs = set.costs;
    limit(set);
    set.costs = costs;
    return set;
  }

 private:
  static double rate_of(const CoreLimits& core) {
    const auto part = [](std::int64_t a, std::int64_t b) {
      return b == 0 ? 1 : static_cast<double>(a) / static_cast<double>(b);
    };
    const double interrupts =
        core.interrupt_period > 0 ? part(core.interrupt_duration, core.interrupt_period) : 0;
    return part(core.budget, core.period) * part(core.rate, core.rate_of) - interrupts;
  }

  void limit(ExhaustiveSet& set) {
    const std::int64_t kind = number(0, 2);
    if (kind == 0) {
      set.core.period = number(2, 5);
      set.core.budget = number(set.core.period / 2 + 1, set.core.period);
    } else if (kind == 1) {
      constexpr std::array<std::int64_t, 3> parts = {2, 4, 5};
      set.core.rate_of = parts[static_cast<std::size_t>(number(0, 2))];
      set.core.rate = number(set.core.rate_of / 2 + 1, set.core.rate_of);
      set.core.delay = number(0, 4);
    }
    if (kind == 2 || chance(0.2)) {
      set.core.interrupt_period = number(5, 9);
      set.core.interrupt_duration = number(1, 2);
      set.core.burst = number(1, 2);
    }
    set.costs.dispatch = chance(0.3) ? 1 : 0;
  }
};

struct SupplyTally {
  int complete = 0;
  int bounded = 0;
  int met = 0;
  int reached = 0;
  double tightness = 0;  // the longest response over the bound, in sum
};

application::Application limited(const ExhaustiveSet& set) {
  application::Application app = application_of(set);
  app.cores = {core_of(set.core, app.overheads.dispatch.count())};
  app.overheads = {};
  return app;
}

std::string look_at(const ExhaustiveSet& set, std::uint64_t seed, SupplyTally& tally) {
  const application::Application app = limited(set);
  const ScenarioReport report =
      analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
  const Reached reached = reach_all(options_of(set), set.tasks);
  tally.complete += reached.complete ? 1 : 0;
  tally.met += report.deadlines == Verdict::meets ? 1 : 0;
  for (std::size_t i = 0; i < report.callbacks.size(); ++i) {
    const auto& bound = report.callbacks[i].response;
    if (bound && reached.complete) {
      ++tally.bounded;
      tally.reached += bound->count() == reached.responses[i] ? 1 : 0;
      tally.tightness +=
          static_cast<double>(reached.responses[i]) / static_cast<double>(bound->count());
    }
  }
  if (std::string error = error_in(set, report, reached); !error.empty()) {
    return error;
  }
  return error_in_simulations(app, seed, reached);
}

class EverySupply : public testing::TestWithParam<std::string> {};

TEST_P(EverySupply, keeps_to_its_bounds) {
  SupplyTally tally;
  const int sets = rounds(150);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const ExhaustiveSet set = SupplySets{seed}.draw_limited(GetParam());
    EXPECT_EQ(look_at(set, seed, tally), "") << "seed " << seed << ": " << describe(set);
  }
  EXPECT_GT(tally.complete, sets * 8 / 10);
  EXPECT_GT(tally.met, sets / 5);
  EXPECT_GT(tally.reached, sets / 4);
  std::cout << tally.complete << " of " << sets << " sets complete, " << tally.met << " met, "
            << tally.reached << " of " << tally.bounded << " bounds reached, tightness "
            << tally.tightness / tally.bounded << "\n";
}

INSTANTIATE_TEST_SUITE_P(Policies, EverySupply,
                         testing::Values("fp", "rm", "dm", "edf", "np-fp", "np-edf", "p-rm",
                                         "cw-edf"),
                         test::policy_name);

class EveryWideSupply : public testing::TestWithParam<std::string> {};

TEST_P(EveryWideSupply, keeps_to_its_bounds) {
  int complete = 0;
  int met = 0;
  int switches = 0;
  const int sets = rounds(80);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const ExhaustiveSet set = SupplySets{seed}.draw_wide(GetParam());
    application::Application app = application_of(set);
    app.cores = {core_of(set.core, 0)};
    const Report report = analyse(app, {.sensitivity = false, .proposals = false});
    Exhaustive options = options_of(set);
    options.most_situations = 20'000;
    const Reached reached = reach_all(options, set.tasks);
    complete += reached.complete ? 1 : 0;
    met += report.verdict == Verdict::meets ? 1 : 0;
    switches += set.switches && report.switches->verdict == Verdict::meets ? 1 : 0;
    EXPECT_EQ(set.switches ? error_in(set, *report.switches, reached)
                           : error_in(set, report.scenarios.front(), reached),
              "")
        << "seed " << seed << ": " << describe(set);
  }
  EXPECT_GT(complete, sets / 4);
  EXPECT_GT(met, sets / 20);
  std::cout << complete << " of " << sets << " sets complete, " << met << " met, " << switches
            << " with switches\n";
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryWideSupply,
                         testing::Values("fp", "rm", "dm", "edf", "np-fp", "np-edf"),
                         test::policy_name);

}  // namespace
}  // namespace takt::analysis
