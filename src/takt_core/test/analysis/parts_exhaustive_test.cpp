// SPDX-License-Identifier: Apache-2.0
//
// What several parts of one chain do to those below them (docs/reference/analysis.md, eq. 45),
// against all orders of releases, and against all that can happen on two cores. By hand as
// exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "../policies.hpp"
#include "analysis/core_bounds.hpp"
#include "analysis/documents.hpp"
#include "analysis/random_tasks.hpp"
#include "analysis/subchain_parts.hpp"

namespace takt::analysis {
namespace {

struct DrawnParts {
  std::int64_t distance = 1;
  std::vector<ChainPart> parts;
};

DrawnParts draw_parts(RandomTasks& random) {
  DrawnParts result{.distance = random.number(2, 6), .parts = {}};
  for (std::int64_t count = random.number(1, 3); count > 0; --count) {
    const std::int64_t earliest = random.number(0, 8);
    const std::int64_t work = random.number(1, 9);
    result.parts.push_back({.earliest = nanoseconds{earliest},
                            .latest = nanoseconds{earliest + random.number(0, 6)},
                            .work = nanoseconds{work},
                            .above = nanoseconds{random.number(0, work)}});
  }
  return result;
}

// Tries all releases of the root, of which each is some time after the one before.
struct AllReleases {
  const DrawnParts& drawn;
  std::int64_t start;
  std::int64_t end;

  [[nodiscard]] std::int64_t work(std::int64_t release) const {
    std::int64_t sum = 0;
    for (const ChainPart& part : drawn.parts) {
      const std::int64_t comes = release + part.earliest.count();
      if (release + part.latest.count() >= 0) {
        sum += comes <= start ? (part.work - part.above).count() : 0;
        sum += comes <= end ? part.above.count() : 0;
      }
    }
    return sum;
  }
  [[nodiscard]] std::int64_t most_from(std::int64_t release) const {
    std::int64_t most = 0;
    for (; release <= std::max(start, end); ++release) {
      if (const std::int64_t own = work(release); own > 0) {
        most = std::max(most, own + most_from(release + drawn.distance));
      }
    }
    return most;
  }
};

TEST(chain_parts, do_the_most_that_any_releases_lead_to) {
  RandomTasks random{first_seed()};
  for (int i = 0, sets = rounds(200); i < sets && !testing::Test::HasFailure(); ++i) {
    const DrawnParts drawn = draw_parts(random);
    ChainParts parts{nanoseconds{drawn.distance}};
    for (const ChainPart& part : drawn.parts) {
      parts.add(part);
    }
    const std::int64_t start = random.number(0, 12);
    const std::int64_t end = random.number(0, 12);
    SCOPED_TRACE("seed " + std::to_string(first_seed()) + ", set " + std::to_string(i));
    const AllReleases all{.drawn = drawn, .start = start, .end = end};
    const auto most = [&](std::span<const nanoseconds> first) {
      return parts.most(nanoseconds{start}, nanoseconds{end}, first).value_or(never).count();
    };
    EXPECT_EQ(most({}), all.most_from(-20));
    for (const auto& way : parts.ways(static_cast<std::size_t>(random.number(3, 20)))) {
      std::int64_t sum = all.most_from(way.back().count() + drawn.distance);
      for (const nanoseconds release : way) {
        sum += all.work(release.count());
      }
      EXPECT_EQ(most(way), sum);
    }
  }
}

// One job below all parts: it ends when it and what has come until then have computed.
struct Below {
  const DrawnParts& drawn;
  std::int64_t own;

  [[nodiscard]] std::int64_t end(const std::function<std::int64_t(std::int64_t)>& done) const {
    constexpr std::int64_t too_long = 60;
    for (std::int64_t time = own;;) {
      const std::int64_t next = own + done(time - 1);
      if (next <= time || next > too_long) {
        return std::min(next, too_long);
      }
      time = next;
    }
  }

  // The latest, whatever releases follow these, which lead to more than nothing.
  [[nodiscard]] std::int64_t latest_end(std::vector<std::int64_t>& releases) const {
    const std::int64_t ends = end([&](std::int64_t time) {
      const AllReleases until{.drawn = drawn, .start = time, .end = time};
      std::int64_t sum = 0;
      for (const std::int64_t release : releases) {
        sum += until.work(release);
      }
      return sum;
    });
    std::int64_t latest = ends;
    const std::int64_t from = -std::ranges::max(drawn.parts, {}, &ChainPart::latest).latest.count();
    for (std::int64_t next = releases.empty() ? from : releases.back() + drawn.distance;
         next < ends; ++next) {
      releases.push_back(next);
      latest = std::max(latest, latest_end(releases));
      releases.pop_back();
    }
    return latest;
  }
};

// The releases of a run do not change while it goes on.
TEST(chain_parts, delay_a_job_no_longer_than_releases_of_one_run) {
  RandomTasks random{first_seed()};
  int later = 0;  // with several releases before the job
  for (int i = 0, sets = rounds(60); i < sets && !testing::Test::HasFailure(); ++i) {
    DrawnParts drawn = draw_parts(random);
    drawn.distance = random.number(2, 4);
    for (ChainPart& part : drawn.parts) {
      part.work = part.above = nanoseconds{random.number(1, 2)};
      drawn.distance += part.work.count();  // so that it ends
    }
    ChainParts parts{nanoseconds{drawn.distance}};
    for (const ChainPart& part : drawn.parts) {
      parts.add(part);
    }
    SCOPED_TRACE("seed " + std::to_string(first_seed()) + ", set " + std::to_string(i));
    const Below below{.drawn = drawn, .own = random.number(1, 4)};
    std::int64_t latest = 0;
    for (const auto& way : parts.ways(1000)) {
      later += way.size() > 1 ? 1 : 0;
      latest = std::max(latest, below.end([&](std::int64_t time) {
        return parts.most(nanoseconds{time}, nanoseconds{time}, way).value_or(never).count();
      }));
    }
    std::vector<std::int64_t> releases;
    EXPECT_EQ(latest, below.latest_end(releases));
  }
  EXPECT_GT(later, rounds(60) < 60 ? -1 : 0);
}

// The chain is back on core 0 after 40, and its next release comes 60 later: whoever is below its
// parts there meets one of them.
TEST(chain_parts, that_are_apart_delay_no_job_together) {
  const std::string chain = timer("a", 100, 10, 30, ", 'cpu': 0, 'writes': ['x']") + "," +
                            message("b", "x", 30, 30, ", 'cpu': 1, 'writes': ['y']") + "," +
                            message("c", "y", 10, 31, ", 'cpu': 0, 'writes': ['z']");
  const auto report = [&](int below) {
    return callback(analyse_json(app(chain + "," + timer("d", 200, below, 1, ", 'cpu': 0"),
                                     ", 'policy': 'fp', 'cpus': [0, 1]"))
                        .scenarios.front(),
                    "d");
  };
  EXPECT_EQ(report(5).response, 15ns);
  EXPECT_TRUE(report(5).bound_by.ends_with("eq. 15 and 45"));
  EXPECT_EQ(report(30).response, 40ns);
  EXPECT_EQ(report(31).response, 51ns);  // a's job, and 40 later c's
}

// The same for a job that has started and keeps others of its group from the core: a, c and f are
// above these.
TEST(chain_parts, that_are_apart_preempt_a_job_of_a_group) {
  const std::string chain = timer("a", 100, 10, 30, ", 'cpu': 0, 'writes': ['x']") + "," +
                            message("b", "x", 30, 30, ", 'cpu': 1, 'writes': ['y']") + "," +
                            message("c", "y", 10, 31, ", 'cpu': 0, 'writes': ['z']");
  const ScenarioReport report =
      analyse_json(app(chain + "," + timer("d", 200, 30, 1, ", 'cpu': 0, 'group': 'g'") + "," +
                           timer("e", 1000, 1, 20, ", 'cpu': 0, 'group': 'g'") + "," +
                           timer("f", 45, 2, 35, ", 'cpu': 0"),
                       ", 'policy': 'fp', 'cpus': [0, 1]"))
          .scenarios.front();
  EXPECT_EQ(callback(report, "d").response, 55ns);
}

// From the root on, the second job in a busy period takes longest: h delays it twice.
TEST(chain_parts, latency_is_the_longest_of_all_jobs_while_the_core_is_busy) {
  const ScenarioReport report =
      analyse_json(app(timer("a", 10, 1, 1, ", 'cpu': 1, 'writes': ['x']") + "," +
                           message("b", "x", 3, 1, ", 'cpu': 0, 'writes': ['y']") + "," +
                           message("c", "y", 1, 2, ", 'cpu': 0") + "," +
                           timer("h", 15, 8, 3, ", 'cpu': 0"),
                       ", 'policy': 'fp', 'cpus': [0, 1], 'topics': [{'name': 'x', 'depth': 9}, "
                       "{'name': 'y', 'depth': 9}], 'chains': "
                       "[{'name': 'whole', 'callbacks': ['a', 'b', 'c']}]"))
          .scenarios.front();
  EXPECT_EQ(report.chains.front().latency, 15ns);
}

// A chain whose parts on core 0 are above a timer, or a chain of two callbacks, and perhaps a timer
// that delays it on its way.
class PartsAbove : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  std::vector<CoreTask> draw() {
    return draw_until_schedulable([this] { return draw_once(); });
  }

 private:
  std::vector<CoreTask> draw_once() {
    std::vector<CoreTask> tasks;
    const bool anywhere = chance(0.1);
    const auto links = static_cast<std::size_t>(number(3, 5));
    const std::int64_t period = number(5, 10);
    const std::size_t from = chance(0.7) ? 0 : 1;
    for (std::size_t i = 0; i < links; ++i) {
      tasks.push_back(task(i % 2 == 0 ? from : 1 - from, period, number(1, 3)));
      tasks.back().before = i == 0 ? CoreTask::timer : i - 1;
      tasks.back().anywhere = anywhere && chance(0.4);
    }
    if (chance(0.5)) {
      tasks.push_back(task(1, number(5, 10), number(1, 3)));
    }
    // The last ones come first, but some are among the parts.
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].priority = static_cast<int>(10 * (i + 1));
    }
    const std::int64_t slow = number(6, 12);
    tasks.push_back(task(0, slow, number(1, 3)));
    tasks.back().priority = static_cast<int>(chance(0.8) ? 1 : 10 * number(1, 5) + 5);
    if (tasks.size() < 7 && chance(0.3)) {
      tasks.push_back(task(0, slow, number(1, 2)));
      tasks.back().before = tasks.size() - 2;
      tasks.back().priority = 2;
    }
    for (CoreTask& one : tasks) {
      one.regular = one.before == CoreTask::timer && chance(0.3);
      one.latest_first = one.regular ? one.period : 0;
    }
    return tasks;
  }

  CoreTask task(std::size_t core, std::int64_t period, std::int64_t worst) {
    return {.core = core,
            .period = period,
            .best = chance(0.7) ? worst : number(0, worst),
            .worst = worst,
            .deadline = period};
  }
};

struct PartsTally {
  int complete = 0;
  int bounds = 0;  // by eq. 45
  int reached = 0;
};

void compare(const std::vector<CoreTask>& tasks, const std::string& policy, PartsTally& tally) {
  const auto count = [&](std::size_t task, const BoundedTask& one, const CoresReached& reached) {
    if (reached.complete && one.response.bound && one.response.by == By::subchain_parts) {
      ++tally.bounds;
      tally.reached += reached.responses[task] == one.response.bound->count() ? 1 : 0;
    }
  };
  tally.complete += hold_on_cores(tasks, policy, 15'000, count) ? 1 : 0;
}

class EveryRunBelowParts : public testing::TestWithParam<std::string> {};

TEST_P(EveryRunBelowParts, keeps_to_its_bounds) {
  PartsTally tally;
  const int sets = rounds(30);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const std::vector<CoreTask> tasks = PartsAbove{seed}.draw();
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + GetParam() + describe(tasks));
    compare(tasks, GetParam(), tally);
  }
  EXPECT_GT(tally.complete, sets / 3);
  EXPECT_GT(tally.reached, sets < 30 ? -1 : 0);
  std::cout << tally.complete << " of " << sets << " sets complete; " << tally.reached << " of "
            << tally.bounds << " responses below parts of a chain reached\n";
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryRunBelowParts, testing::Values("fp", "np-fp"),
                         test::policy_name);

}  // namespace
}  // namespace takt::analysis
