// SPDX-License-Identifier: Apache-2.0
//
// The same for callbacks that wait, overheads, data with its ages and chains, and switches of the
// scenario. By hand as exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "../policies.hpp"
#include "analysis/exhaustive_draw_wide.hpp"
#include "analysis/exhaustive_errors.hpp"

namespace takt::analysis {
namespace {

struct WideTally {
  int complete = 0;
  int met = 0;
  int switches = 0;  // that are proved
  int bounded = 0;   // latencies and ages
  int reached = 0;   // of these, but for a tick: a job that starts when another one ends comes last
  int responses = 0;
  int responses_reached = 0;
};

void count(const std::optional<nanoseconds>& bound, std::int64_t observed_there, int& bounded,
           int& reached) {
  if (bound && observed_there >= 0) {
    ++bounded;
    reached += *bound <= nanoseconds{observed_there + 1} ? 1 : 0;
  }
}

void count(const ExhaustiveSet& set, const Report& report, const Reached& reached,
           WideTally& tally) {
  tally.complete += reached.complete ? 1 : 0;
  tally.met += report.verdict == Verdict::meets ? 1 : 0;
  if (set.switches) {
    tally.switches += report.switches->verdict == Verdict::meets ? 1 : 0;
    return;
  }
  const ScenarioReport& scenario = report.scenarios.front();
  for (const ChainReport& chain : scenario.chains) {
    count(chain.latency, reached.latency, tally.bounded, tally.reached);
    count(chain.reaction, reached.reaction, tally.bounded, tally.reached);
    count(chain.age, reached.age, tally.bounded, tally.reached);
  }
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    count(scenario.callbacks[i].response, reached.responses[i], tally.responses,
          tally.responses_reached);
    for (std::size_t k = 0; k < set.tasks[i].reads.size(); ++k) {
      const auto age = std::ranges::find(scenario.ages, topic_of(i, k), &AgeReport::topic);
      count(age->age, reached.ages[i][k], tally.bounded, tally.reached);
    }
  }
}

std::string error_in_runs(application::Application app, const Reached& reached, WideSets& random,
                          std::uint64_t seed) {
  constexpr std::int64_t end = 200;  // of the simulation
  if (app.strategy) {
    std::vector<std::int64_t> times(static_cast<std::size_t>(random.number(1, 6)));
    std::ranges::generate(times, [&] { return random.number(1, end); });
    std::ranges::sort(times);
    for (std::size_t i = 0; i < times.size(); ++i) {
      app.switches.push_back(
          {.at = nanoseconds{times[i]}, .scenario = i % 2 == 0 ? "other" : "one"});
    }
  }
  return error_in_simulations(app, seed, reached);
}

// The first thing that is wrong.
std::string look_at(const std::string& policy, std::uint64_t seed, WideTally& tally) {
  WideSets random{seed};
  const ExhaustiveSet set = random.draw(policy);
  SCOPED_TRACE(describe(set));
  const application::Application app = application_of(set);
  const Report report = analyse(app, {.sensitivity = false, .proposals = false});
  Exhaustive options = options_of(set);
  options.most_situations = 20'000;
  const Reached reached = reach_all(options, set.tasks);
  count(set, report, reached, tally);
  std::string error = set.switches ? error_in(set, *report.switches, reached)
                                   : error_in(set, report.scenarios.front(), reached);
  if (error.empty()) {
    error = error_in_runs(app, reached, random, seed);
  }
  return error.empty() ? "" : error + "\n" + describe(set);
}

class EveryWideRun : public testing::TestWithParam<std::string> {};

TEST_P(EveryWideRun, keeps_to_its_bounds) {
  WideTally tally;
  const int sets = rounds(200);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    EXPECT_EQ(look_at(GetParam(), seed, tally), "") << "seed " << seed;
  }
  EXPECT_GT(tally.complete, sets * 7 / 10);
  EXPECT_GT(tally.met, sets / 4);
  EXPECT_GT(tally.responses_reached, sets / 2);
  EXPECT_GT(tally.bounded, sets / 5);
  std::cout << tally.complete << " of " << sets << " sets complete, " << tally.met << " met, "
            << tally.switches << " with switches; reached: " << tally.responses_reached << " of "
            << tally.responses << " responses, " << tally.reached << " of " << tally.bounded
            << " latencies and ages\n";
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryWideRun,
                         testing::Values("fp", "rm", "dm", "edf", "np-fp", "np-edf", "p-rm",
                                         "cw-edf"),
                         test::policy_name);

TEST(exhaustive_wide, sees_a_latency_or_an_age_that_is_below_what_happens) {
  int shortened = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const ExhaustiveSet set = WideSets{seed}.draw("fp");
    if (set.switches) {
      continue;
    }
    const Reached reached = reach_all(options_of(set), set.tasks);
    const Report report = analyse(application_of(set), {.sensitivity = false, .proposals = false});
    const auto expect_error = [&](auto shorten) {
      ScenarioReport wrong = report.scenarios.front();
      shorten(wrong);
      EXPECT_NE(error_in(set, wrong, reached), "") << describe(set);
      ++shortened;
    };
    if (reached.latency > 0) {
      expect_error([&](auto& r) { r.chains[0].latency = nanoseconds{reached.latency - 1}; });
      expect_error([&](auto& r) { r.chains[0].age = nanoseconds{reached.age - 1}; });
    }
    if (reached.reaction > 0) {
      expect_error([&](auto& r) { r.chains[0].reaction = nanoseconds{reached.reaction - 1}; });
    }
    for (std::size_t i = 0; i < report.scenarios.front().ages.size(); ++i) {
      const AgeReport& age = report.scenarios.front().ages[i];
      const auto reader = static_cast<std::size_t>(age.callback.back() - '0');
      const std::int64_t tally = reached.ages[reader][0];
      if (age.topic == topic_of(reader, 0) && tally > 0) {
        expect_error([&](auto& r) { r.ages[i].age = nanoseconds{tally - 1}; });
      }
    }
  }
  EXPECT_GT(shortened, 50);
}

TEST(exhaustive_wide, sees_a_switch_that_breaks_what_is_proved) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const ExhaustiveSet set = WideSets{seed}.draw("edf");
    if (set.switches && reach_all(options_of(set), set.tasks).missed) {
      const SwitchReport report{.verdict = Verdict::meets};
      EXPECT_NE(error_in(set, report, reach_all(options_of(set), set.tasks)), "");
      ++wrong;
    }
  }
  EXPECT_GT(wrong, 3);
}

}  // namespace
}  // namespace takt::analysis
