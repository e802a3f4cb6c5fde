// SPDX-License-Identifier: Apache-2.0
//
// Processes with one thread that may run on each of several cores, against runs that are played
// tick by tick: the kernel moves the thread to any core that nobody above it has.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analysis/documents.hpp"

namespace takt::analysis {
namespace {

constexpr int all_cores = 2;
constexpr int ticks = 400;

// A process with one callback.
struct One {
  std::string name{};
  std::string scheduling{};
  int core = -1;  // -1: it roams
  int period = 0;
  int work = 0;
  int first = 0;  // release
};

// A reservation that computes whenever it may.
struct Reserved {
  int runtime = 0;
  int period = 0;
};

application::Application robot(const std::vector<One>& all, const std::vector<Reserved>& above) {
  std::string processes;
  std::string callbacks;
  const auto add = [](std::string& list, const std::string& text) {
    list += (list.empty() ? "" : ", ") + text;
  };
  for (const One& one : all) {
    add(processes, "{'name': '" + one.name + "', 'executor': 'rclcpp_events', " +
                       (one.core < 0 ? "'cpus': [0, 1]" : "'cpu': " + std::to_string(one.core)) +
                       one.scheduling + "}");
    add(callbacks,
        timer("of_" + one.name, one.period, one.work, 1, ", 'process': '" + one.name + "'"));
  }
  for (std::size_t i = 0; i < above.size(); ++i) {
    const std::string name = "reserved" + std::to_string(i);
    const std::string period = std::to_string(above[i].period);
    add(processes,
        "{'name': '" + name +
            "', 'executor': 'rclcpp_events', 'cpus': [0, 1], 'reservation': {'runtime': " +
            std::to_string(above[i].runtime) + ", 'deadline': " + period + ", 'period': " + period +
            "}}");
    add(callbacks,
        timer("of_" + name, above[i].period, above[i].runtime, 1, ", 'process': '" + name + "'"));
  }
  return parsed(app(callbacks, ", 'processes': [" + processes + "]"));
}

// The longest response of each, in the order of their priorities. The servers have any cores.
std::vector<int> played(const std::vector<One>& all, const std::vector<Reserved>& above,
                        std::mt19937& random) {
  std::vector<int> longest(all.size(), 0);
  std::vector<int> left(all.size(), 0);
  std::vector<int> released(all.size(), 0);
  std::vector<int> last(all.size(), 0);
  std::vector<int> budgets(above.size(), 0);
  const std::size_t preferred = random() % all_cores;
  std::vector<int> phases;
  for (const Reserved& one : above) {
    phases.push_back(static_cast<int>(random() % static_cast<unsigned>(one.period)));
  }
  for (int now = 0; now < ticks; ++now) {
    std::array<bool, all_cores> taken{};
    for (std::size_t i = 0; i < above.size(); ++i) {
      if (now >= phases[i] && (now - phases[i]) % above[i].period == 0) {
        budgets[i] = above[i].runtime;
      }
      // In every other period it sleeps for as long as it may.
      const int number = (now + above[i].period - phases[i]) / above[i].period;
      const int until = above[i].period - (now + above[i].period - phases[i]) % above[i].period;
      if (budgets[i] > 0 && (budgets[i] >= until || number % 2 == 0)) {
        std::size_t core = random() % 16 == 0 ? 1 - preferred : preferred;
        core = taken.at(core) ? 1 - core : core;
        taken.at(core) = true;
        --budgets[i];
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (now >= all[i].first && (now - all[i].first) % all[i].period == 0 && left[i] == 0) {
        left[i] = all[i].work;
        released[i] = now;
      }
      if (left[i] == 0) {
        continue;
      }
      std::optional<std::size_t> core;
      for (int k = 0; k < all_cores && !core; ++k) {
        const auto place = static_cast<std::size_t>((last[i] + k) % all_cores);
        if (!taken.at(place) && (all[i].core < 0 || all[i].core == static_cast<int>(place))) {
          core = place;
        }
      }
      if (!core) {
        continue;
      }
      taken.at(*core) = true;
      last[i] = static_cast<int>(*core);
      if (--left[i] == 0) {
        longest[i] = std::max(longest[i], now + 1 - released[i]);
      }
    }
  }
  return longest;
}

int drawn(std::mt19937& random, int least, int most) {
  return std::uniform_int_distribution<int>{least, most}(random);
}

void hold(std::vector<One> all, const std::vector<Reserved>& above, std::mt19937& random,
          int& bounded, int& reached) {
  const Report report = analyse(robot(all, above));
  std::vector<std::optional<nanoseconds>> bounds;
  for (const One& one : all) {
    bounds.push_back(callback(report.scenarios.front(), "of_" + one.name).response);
  }
  std::vector<int> longest(all.size(), 0);
  for (int run = 0; run < 30; ++run) {
    for (One& one : all) {
      one.first = drawn(random, 0, one.period - 1);
    }
    const std::vector<int> responses = played(all, above, random);
    for (std::size_t i = 0; i < all.size(); ++i) {
      longest[i] = std::max(longest[i], responses[i]);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (bounds[i]) {
      ++bounded;
      reached += bounds[i]->count() == longest[i] ? 1 : 0;
      EXPECT_LE(longest[i], bounds[i]->count()) << all[i].name;
    }
  }
}

TEST(roaming_threads, no_run_beside_priorities_exceeds_a_bound) {
  std::mt19937 random{3};
  int bounded = 0;
  int reached = 0;
  for (int set = 0; set < 80 && !testing::Test::HasFailure(); ++set) {
    hold({{"high", ", 'priority': 80", drawn(random, 0, 1), drawn(random, 5, 14),
           drawn(random, 1, 4)},
          {"moving", ", 'priority': 60", -1, drawn(random, 6, 18), drawn(random, 1, 6)},
          {"left", ", 'priority': 40", 0, drawn(random, 8, 24), drawn(random, 1, 4)},
          {"right", ", 'priority': 40", 1, drawn(random, 8, 24), drawn(random, 1, 4)}},
         {}, random, bounded, reached);
  }
  EXPECT_GT(bounded, 150);
  EXPECT_GT(reached, 40);
}

TEST(roaming_threads, no_run_below_reservations_exceeds_a_bound) {
  std::mt19937 random{4};
  int bounded = 0;
  int reached = 0;
  for (int set = 0; set < 80 && !testing::Test::HasFailure(); ++set) {
    const Reserved first{.runtime = drawn(random, 1, 2), .period = drawn(random, 5, 12)};
    const Reserved second{.runtime = drawn(random, 1, 2), .period = drawn(random, 5, 12)};
    hold({{"left", ", 'priority': 50", 0, drawn(random, 8, 24), drawn(random, 1, 4)},
          {"moving", ", 'priority': 40", -1, drawn(random, 12, 30), drawn(random, 1, 4)},
          {"right", ", 'priority': 30", 1, drawn(random, 12, 30), drawn(random, 1, 4)}},
         {first, second}, random, bounded, reached);
  }
  EXPECT_GT(bounded, 100);
  EXPECT_GT(reached, 0);
}

// What roams waits only while each of its cores is taken, and a reservation has one for itself.
TEST(roaming_threads, have_the_bounds_of_their_own_core) {
  const Report report = analyse(robot(
      {{"high", ", 'priority': 80", 1, 10, 4}, {"moving", ", 'priority': 60", -1, 20, 6}}, {}));
  EXPECT_EQ(callback(report.scenarios.front(), "of_moving").response, nanoseconds{6});
  const Report reserved = analyse(robot({}, {{2, 10}, {3, 10}}));
  EXPECT_EQ(callback(reserved.scenarios.front(), "of_reserved0").response, nanoseconds{2});
  EXPECT_EQ(callback(reserved.scenarios.front(), "of_reserved1").response, nanoseconds{3});
}

}  // namespace
}  // namespace takt::analysis
