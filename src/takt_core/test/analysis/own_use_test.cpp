// SPDX-License-Identifier: Apache-2.0
//
// Processes that hardly use what their quota or reservation gives them (docs/reference/analysis.md,
// eq. 40 and 41), against every run of tiny ones.
#include "../../src/analysis/own_use.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "analysis/documents.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

// In ticks. The first one is above the process.
struct TinyQuota {
  std::array<int, 3> period = {};
  std::array<int, 3> execution = {};
  int budget = 0;
  int quota_period = 0;
  bool by_deadline = false;
};

// All that matters before a tick.
struct TinyNow {
  std::array<std::int8_t, 3> wait = {};           // until the next release may come
  std::array<std::int8_t, 3> age = {-1, -1, -1};  // of a pending job
  std::array<std::int8_t, 3> left = {};  // that its job has to compute, once it has started
  std::int8_t phase = 0;
  std::int8_t budget = 0;

  auto operator<=>(const TinyNow&) const = default;
};

// Every run: releases at least a period apart, jobs that take one tick or all of their time, each
// phase of the quota, which is full before the first job comes.
class EveryQuotaRun {
 public:
  explicit EveryQuotaRun(const TinyQuota& tiny) : tiny_(tiny) {}

  // Whether each was looked at: no job meets the next one of its callback.
  bool look() {
    for (int phase = 0; phase < tiny_.quota_period; ++phase) {
      TinyNow now;
      now.phase = static_cast<std::int8_t>(phase);
      now.budget = static_cast<std::int8_t>(tiny_.budget);
      add(now);
    }
    while (!open_.empty() && complete_) {
      const TinyNow now = open_.back();
      open_.pop_back();
      release(now, 0);
    }
    return complete_;
  }

  [[nodiscard]] int longest(std::size_t i) const { return longest_.at(i); }

 private:
  static constexpr std::size_t most_states = 60'000;

  void add(const TinyNow& now) {
    if (states_.insert(now).second) {
      open_.push_back(now);
      complete_ = complete_ && states_.size() < most_states;
    }
  }

  void release(TinyNow now, std::size_t i) {
    if (i == now.age.size()) {
      choose(now);
      return;
    }
    release(now, i + 1);
    if (now.wait.at(i) == 0) {
      complete_ = complete_ && now.age.at(i) < 0;
      now.age.at(i) = 0;
      now.wait.at(i) = static_cast<std::int8_t>(tiny_.period.at(i));
      now.left.at(i) = 0;
      release(now, i + 1);
    }
  }

  void choose(TinyNow now) {
    if (now.phase == 0) {
      now.budget = static_cast<std::int8_t>(tiny_.budget);
    }
    std::size_t next = 0;
    if (now.age[0] < 0) {
      if (now.budget == 0 || (now.age[1] < 0 && now.age[2] < 0)) {
        pass(now);
        return;
      }
      next = chosen(now);
      --now.budget;
    }
    if (now.left.at(next) == 0 && tiny_.execution.at(next) > 1) {
      run(now, next, 1);
    }
    run(now, next, now.left.at(next) == 0 ? tiny_.execution.at(next) : now.left.at(next));
  }

  [[nodiscard]] std::size_t chosen(const TinyNow& now) const {
    if (now.left[1] > 0 || now.age[2] < 0) {
      return 1;
    }
    if (now.left[2] > 0 || now.age[1] < 0) {
      return 2;
    }
    return !tiny_.by_deadline || tiny_.period[1] - now.age[1] <= tiny_.period[2] - now.age[2] ? 1
                                                                                              : 2;
  }

  void run(TinyNow now, std::size_t job, int left) {
    now.left.at(job) = static_cast<std::int8_t>(left - 1);
    if (left == 1) {
      longest_.at(job) = std::max(longest_.at(job), now.age.at(job) + 1);
      now.age.at(job) = -1;
    }
    pass(now);
  }

  void pass(TinyNow now) {
    for (std::size_t i = 0; i < now.age.size(); ++i) {
      now.age.at(i) = static_cast<std::int8_t>(now.age.at(i) + (now.age.at(i) < 0 ? 0 : 1));
      now.wait.at(i) = static_cast<std::int8_t>(now.wait.at(i) - (now.wait.at(i) > 0 ? 1 : 0));
    }
    now.phase = static_cast<std::int8_t>((now.phase + 1) % tiny_.quota_period);
    add(now);
  }

  TinyQuota tiny_;
  std::set<TinyNow> states_;
  std::vector<TinyNow> open_;
  std::array<int, 3> longest_ = {};
  bool complete_ = true;
};

std::string tiny_job(const std::string& name, int period, int worst, int priority,
                     const std::string& process) {
  return timer(name, period, worst, priority, ", 'process': '" + process + "'");
}

std::string document_of(const TinyQuota& tiny) {
  return app(tiny_job("a", tiny.period[0], tiny.execution[0], 1, "above") + ", " +
                 tiny_job("b", tiny.period[1], tiny.execution[1], 2, "own") + ", " +
                 tiny_job("c", tiny.period[2], tiny.execution[2], 1, "own"),
             std::string{", 'processes': [{'name': 'above', 'priority': 50}, {'name': 'own', "
                         "'nice': 0, 'policy': '"} +
                 (tiny.by_deadline ? "np-edf" : "np-fp") +
                 "', 'quota': {'budget': " + std::to_string(tiny.budget) +
                 ", 'period': " + std::to_string(tiny.quota_period) + "}}]");
}

TinyQuota draw_quota(std::uint64_t seed) {
  RandomTasks random{seed};
  TinyQuota tiny;
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return static_cast<int>(random.number(least, most));
  };
  tiny.period = {any(3, 7), any(5, 12), any(8, 16)};
  tiny.execution = {any(1, 2), any(1, 2), any(1, 3)};
  tiny.quota_period = any(3, 7);
  tiny.budget = any(1, tiny.quota_period - 1);
  tiny.by_deadline = random.chance(0.4);
  return tiny;
}

TEST(own_use, no_run_of_a_process_with_a_quota_is_above_its_bound) {
  int complete = 0;
  int bounds = 0;
  int reached = 0;
  int never_throttled = 0;
  for (int number = 0; number < rounds(60) && !HasFailure(); ++number) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(number);
    const TinyQuota tiny = draw_quota(seed);
    EveryQuotaRun runs{tiny};
    if (!runs.look()) {
      continue;
    }
    ++complete;
    const std::string text = document_of(tiny);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    const Report report = analyse(parsed(text), {.sensitivity = false, .proposals = false});
    for (const auto& [name, at] : {std::pair{"b", 1U}, std::pair{"c", 2U}}) {
      const CallbackReport& one = callback(report.scenarios.front(), name);
      if (!one.response) {
        continue;
      }
      ++bounds;
      EXPECT_LE(nanoseconds{runs.longest(at)}, *one.response) << name << " " << one.bound_by;
      reached += nanoseconds{runs.longest(at)} == *one.response ? 1 : 0;
      never_throttled += one.bound_by.find("quota") == std::string::npos ? 1 : 0;
    }
  }
  std::cout << complete << " sets, " << reached << " of " << bounds << " bounds reached, "
            << never_throttled << " without throttling\n";
  EXPECT_GT(complete, rounds(15));
  EXPECT_GT(reached, rounds(10));
}

std::string beside_one_above(const std::string& process) {
  return app(tiny_job("above", 10, 2, 1, "above") + ", " + tiny_job("own", 500, 10, 1, "own"),
             ", 'processes': [{'name': 'above', 'priority': 50}, {'name': 'own', " + process +
                 ", 'policy': 'np-fp'}]");
}

// It uses 10 of its 30; and the quota counts what the process computes, not what those above do.
TEST(own_use, a_quota_that_is_never_used_up_costs_nothing) {
  const auto own = [](const std::string& process) {
    return callback(analyse_json(beside_one_above(process)).scenarios.front(), "own");
  };
  const CallbackReport free = own("'nice': 0, 'quota': {'budget': 30, 'period': 100}");
  EXPECT_EQ(free.response, nanoseconds{10 + 2 * 2});
  EXPECT_EQ(free.bound_by.find("supply"), std::string::npos) << free.bound_by;
  const CallbackReport throttled = own("'nice': 0, 'quota': {'budget': 6, 'period': 100}");
  EXPECT_GE(throttled.response, nanoseconds{94 + 10 + 2});
  EXPECT_LT(throttled.response, nanoseconds{500});
  EXPECT_NE(throttled.bound_by.find("eq. 41"), std::string::npos) << throttled.bound_by;
}

// Alone on its core it has all of it; beside others what they leave, or its runtime by its
// deadline.
TEST(own_use, a_runtime_that_is_never_used_up_is_there_at_once) {
  const auto own = [](const std::string& reservation, const std::string& other = "") {
    const std::string text = app(
        tiny_job("own", 500, 4, 1, "own") +
            (other.empty() ? "" : ", " + tiny_job("other", 500, 1, 1, "other")),
        ", 'processes': [{'name': 'own', 'policy': 'np-fp', 'reservation': {" + reservation + "}}" +
            (other.empty()
                 ? ""
                 : ", {'name': 'other', 'policy': 'np-fp', 'reservation': {" + other + "}}") +
            "]");
    return callback(analyse_json(text).scenarios.front(), "own").response;
  };
  EXPECT_EQ(own("'runtime': 4, 'period': 10"), nanoseconds{4});
  EXPECT_EQ(own("'runtime': 4, 'period': 10", "'runtime': 3, 'period': 20"),
            nanoseconds{4 + 2 * 3});
  EXPECT_EQ(own("'runtime': 4, 'period': 10", "'runtime': 100, 'period': 200"),
            nanoseconds{2 * 6 + 4});
  EXPECT_EQ(own("'runtime': 3, 'period': 10"), nanoseconds{2 * 7 + 7 + 4});
  EXPECT_EQ(own("'runtime': 4, 'deadline': 9, 'period': 10"), nanoseconds{6 + 5 + 4});
}

// Windows of any length and begin in every run of one stream below another one.
TEST(own_use, no_window_of_a_run_has_more_than_counted) {
  int windows = 0;
  int reached = 0;
  for (int number = 0; number < rounds(40) && !HasFailure(); ++number) {
    RandomTasks random{first_seed() + static_cast<std::uint64_t>(number)};
    const auto any = [&](std::int64_t least, std::int64_t most) {
      return nanoseconds{random.number(least, most)};
    };
    const Use above{.noticed = {.period = any(4, 8)}, .execution = any(1, 2)};
    const std::array own = {Use{.noticed = {.period = any(5, 9)}, .execution = any(1, 2)},
                            Use{.noticed = {.period = any(8, 14)}, .execution = any(1, 3)}};
    const nanoseconds window = any(1, 20);
    const auto bound = most_used(own, std::span{&above, 1}, window);
    if (!bound) {
      continue;  // more than the core has
    }
    nanoseconds longest{0};
    const auto period_of = [](const Use& use) { return use.noticed.period.count(); };
    for (std::int64_t a = 0; a < period_of(above); ++a) {
      for (std::int64_t b = 0; b < period_of(own[0]); ++b) {
        for (std::int64_t c = 0; c < period_of(own[1]); ++c) {
          std::int64_t left_above = 0;
          std::int64_t left_own = 0;
          std::vector<int> used;
          const auto comes = [](const Use& use, std::int64_t now, std::int64_t offset) {
            return now % use.noticed.period.count() == offset ? use.execution.count() : 0;
          };
          for (std::int64_t now = 0; now < 60; ++now) {
            left_above += comes(above, now, a);
            left_own += comes(own[0], now, b) + comes(own[1], now, c);
            const bool runs = left_above == 0 && left_own > 0;
            left_above -= left_above > 0 ? 1 : 0;
            left_own -= runs ? 1 : 0;
            used.push_back(used.empty() ? 0 : used.back());
            used.back() += runs ? 1 : 0;
            const auto before = static_cast<std::size_t>(window.count());
            longest = std::max(
                longest, nanoseconds{used.back() -
                                     (used.size() > before ? used[used.size() - 1 - before] : 0)});
          }
        }
      }
    }
    EXPECT_LE(longest, *bound);
    ++windows;
    reached += longest == *bound ? 1 : 0;
  }
  std::cout << reached << " of " << windows << " windows reach what was counted\n";
  EXPECT_GT(reached, rounds(20));
}

}  // namespace
}  // namespace takt::analysis
