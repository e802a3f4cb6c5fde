// SPDX-License-Identifier: Apache-2.0
//
// The bounds for rclcpp's multi-threaded executor against every run of small sets.
#include <gtest/gtest.h>

#include <deque>
#include <iostream>
#include <unordered_set>
#include <utility>

#include "analysis/random_tasks.hpp"
#include "analysis/simulated_applications.hpp"
#include "analysis/threads.hpp"

namespace takt::analysis {
namespace {

// Every run of a few callbacks: whenever the wait set is looked at, any of the jobs that may be
// taken is taken, each job computes for any time up to its longest, and each callback is released
// at any times that are far enough apart. While an interrupt has a core, none is taken, as whoever
// looks may be on it, and one of the running jobs at most does not go on. Knows nothing of the
// analysis.
class EveryRun {
 public:
  EveryRun(std::vector<Demand> demands, std::size_t threads)
      : demands_(std::move(demands)), threads_(threads), longest_(demands_.size(), 0) {}

  // The longest response of each callback; empty where there are too many situations.
  std::vector<std::int64_t> run() {
    std::vector<Situation> open{Situation(demands_.size())};
    known_.insert(open.front().key());
    while (!open.empty()) {
      const Situation situation = open.back();
      open.pop_back();
      release(situation, 0, open);
      if (known_.size() > 40'000) {
        return {};
      }
    }
    return longest_;
  }

 private:
  struct Callback {
    std::int64_t since = 100;          // the last release, up to the period
    std::int64_t left = 0;             // of its running job
    std::int64_t age = 0;              // of that
    std::deque<std::int64_t> waiting;  // ages, the oldest first
  };
  struct Situation : std::vector<Callback> {
    explicit Situation(std::size_t count) : std::vector<Callback>(count) {}

    [[nodiscard]] std::string key() const {
      std::string key;
      for (const Callback& callback : *this) {
        for (const std::int64_t part : {callback.since, callback.left, callback.age}) {
          key += static_cast<char>(part);
        }
        for (const std::int64_t age : callback.waiting) {
          key += static_cast<char>(age);
        }
        key += '\xff';
      }
      return key;
    }
  };

  void release(const Situation& situation, std::size_t i, std::vector<Situation>& open) {
    if (i == demands_.size()) {
      start(situation, open);
      return;
    }
    release(situation, i + 1, open);
    if (situation[i].since >= demands_[i].releases.period.count()) {
      Situation next = situation;
      next[i].since = 0;
      if (demands_[i].interrupt) {
        next[i].left = demands_[i].execution.count();
      } else {
        next[i].waiting.push_back(0);
      }
      release(next, i + 1, open);
    }
  }

  void start(const Situation& situation, std::vector<Situation>& open) {
    if (is_interrupted(situation)) {
      pass(situation, situation.size(), open);
      for (std::size_t i = 0; i < situation.size(); ++i) {
        if (situation[i].left > 0 && !demands_[i].interrupt) {
          pass(situation, i, open);
        }
      }
      return;
    }
    std::size_t running = 0;
    for (const Callback& callback : situation) {
      running += callback.left > 0 ? 1U : 0U;
    }
    bool any = false;
    for (std::size_t i = 0; running < threads_ && i < demands_.size(); ++i) {
      if (situation[i].waiting.empty() || group_runs(situation, i)) {
        continue;
      }
      any = true;
      for (std::int64_t time = 1; time <= demands_[i].execution.count(); ++time) {
        Situation next = situation;
        next[i].left = time;
        next[i].age = next[i].waiting.front();
        next[i].waiting.pop_front();
        start(next, open);
      }
    }
    if (!any) {
      pass(situation, situation.size(), open);
    }
  }

  [[nodiscard]] bool is_interrupted(const Situation& situation) const {
    for (std::size_t i = 0; i < situation.size(); ++i) {
      if (demands_[i].interrupt && situation[i].left > 0) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool group_runs(const Situation& situation, std::size_t i) const {
    for (std::size_t other = 0; other < demands_.size(); ++other) {
      if (situation[other].left > 0 && demands_[other].group == demands_[i].group) {
        return true;
      }
    }
    return false;
  }

  // `held`: the callback whose job does not go on.
  void pass(Situation situation, std::size_t held, std::vector<Situation>& open) {
    for (std::size_t i = 0; i < situation.size(); ++i) {
      Callback& callback = situation[i];
      callback.since = std::min(callback.since + 1, demands_[i].releases.period.count());
      for (std::int64_t& age : callback.waiting) {
        ++age;
      }
      if (callback.left > 0) {
        ++callback.age;
        if (i != held && --callback.left == 0) {
          longest_[i] = std::max(longest_[i], std::exchange(callback.age, 0));
        }
      }
    }
    if (known_.insert(situation.key()).second) {
      open.push_back(std::move(situation));
    }
  }

  std::vector<Demand> demands_;
  std::size_t threads_;
  std::vector<std::int64_t> longest_;
  std::unordered_set<std::string> known_;
};

TEST(threads, no_run_of_small_sets_is_above_the_bound) {
  int interrupted = 0;
  int reached = 0;
  int bounded = 0;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(60));
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    RandomTasks random{seed};
    const auto threads = static_cast<std::size_t>(random.number(2, 3));
    std::vector<Demand> demands;
    std::string set = std::to_string(threads) + " threads";
    // Long jobs, of which one that began before delays others, in sets of three.
    const auto count = static_cast<std::size_t>(random.number(3, 4));
    const bool interrupts = count == 3 && random.chance(0.5);
    const std::int64_t most = interrupts ? 2 : count == 3 ? 6 : 3;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t execution = random.number(1, most);
      demands.push_back({.task = i,
                         .group = static_cast<std::size_t>(random.number(0, 3)),
                         .releases = {.period = nanoseconds{random.number(
                                          execution + 1, interrupts ? 8 : 3 * most)}},
                         .execution = nanoseconds{execution}});
      set += "; C " + std::to_string(execution) + " T " +
             std::to_string(demands.back().releases.period.count()) + " group " +
             std::to_string(demands.back().group);
    }
    if (interrupts) {
      const std::int64_t execution = random.number(1, 2);
      demands.push_back({.task = count,
                         .group = 9,
                         .releases = {.period = nanoseconds{random.number(4, 6) * execution}},
                         .execution = nanoseconds{execution},
                         .interrupt = true});
      set += "; interrupts C " + std::to_string(execution) + " T " +
             std::to_string(demands.back().releases.period.count());
    }
    Effort effort;
    const std::vector<Response> bounds =
        thread_responses(demands, effort, Supply::of_threads(static_cast<std::int64_t>(threads)));
    if (!std::ranges::all_of(std::span{bounds}.first(count),
                             [](const Response& one) { return one.bound.has_value(); })) {
      continue;
    }
    const std::vector<std::int64_t> longest = EveryRun{demands, threads}.run();
    interrupted += !longest.empty() && demands.back().interrupt ? 1 : 0;
    for (std::size_t i = 0; i < std::min(longest.size(), count); ++i) {
      EXPECT_LE(longest[i], bounds[i].bound->count()) << "callback " << i << " of " << set;
      reached += longest[i] == bounds[i].bound->count() ? 1 : 0;
      ++bounded;
    }
  }
  std::cout << reached << " of " << bounded << " bounds are reached\n";
  EXPECT_GT(interrupted, 0);
  EXPECT_GT(bounded, rounds(60));
  EXPECT_GT(reached, rounds(20));
}

}  // namespace
}  // namespace takt::analysis
