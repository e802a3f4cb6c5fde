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
// as often as its period and jitter allow. Of a reentrant callback any number of jobs runs, which
// begin in the order of their releases. While an interrupt has a core, none is taken, as whoever
// looks may be on it, and one of the running jobs at most does not go on. Knows nothing of the
// analysis.
class EveryRun {
 public:
  EveryRun(std::vector<Demand> demands, std::size_t threads)
      : demands_(std::move(demands)), threads_(threads), longest_(demands_.size(), 0) {}

  // The longest response of each callback; empty where there are too many situations.
  std::vector<std::int64_t> run() {
    std::vector<Situation> open{Situation(demands_.size())};
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      open.front()[i].credit = most_credit(i);
    }
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
  struct Running {
    std::int64_t left = 0;
    std::int64_t age = 0;

    auto operator<=>(const Running&) const = default;
  };
  struct Callback {
    std::int64_t credit = 0;           // a release takes a period of it, which time gives
    std::vector<Running> running;      // jobs, ascending
    std::deque<std::int64_t> waiting;  // ages, the oldest first
  };
  struct Situation : std::vector<Callback> {
    explicit Situation(std::size_t count) : std::vector<Callback>(count) {}

    [[nodiscard]] std::string key() const {
      std::string key;
      for (const Callback& callback : *this) {
        key += static_cast<char>(callback.credit);
        for (const Running& job : callback.running) {
          key += static_cast<char>(job.left);
          key += static_cast<char>(job.age);
        }
        key += '\xfe';
        for (const std::int64_t age : callback.waiting) {
          key += static_cast<char>(age);
        }
        key += '\xff';
      }
      return key;
    }
  };

  [[nodiscard]] std::int64_t most_credit(std::size_t i) const {
    return (demands_[i].releases.period + demands_[i].releases.jitter).count();
  }

  void release(const Situation& situation, std::size_t i, std::vector<Situation>& open) {
    if (i == demands_.size()) {
      start(situation, open);
      return;
    }
    release(situation, i + 1, open);
    if (const std::int64_t period = demands_[i].releases.period.count();
        situation[i].credit >= period) {
      Situation next = situation;
      next[i].credit -= period;
      if (demands_[i].interrupt) {
        next[i].running.push_back({.left = demands_[i].execution.count()});
      } else {
        next[i].waiting.push_back(0);
      }
      release(next, i, open);
    }
  }

  void start(const Situation& situation, std::vector<Situation>& open) {
    if (is_interrupted(situation)) {
      pass(situation, situation.size(), 0, open);
      for (std::size_t i = 0; i < situation.size(); ++i) {
        for (std::size_t job = 0; job < situation[i].running.size(); ++job) {
          if (!demands_[i].interrupt) {
            pass(situation, i, job, open);
          }
        }
      }
      return;
    }
    std::size_t running = 0;
    for (const Callback& callback : situation) {
      running += callback.running.size();
    }
    bool any = false;
    for (std::size_t i = 0; running < threads_ && i < demands_.size(); ++i) {
      if (situation[i].waiting.empty() || group_runs(situation, i)) {
        continue;
      }
      any = true;
      for (std::int64_t time = 1; time <= demands_[i].execution.count(); ++time) {
        Situation next = situation;
        std::vector<Running>& jobs = next[i].running;
        jobs.push_back({.left = time, .age = next[i].waiting.front()});
        std::ranges::sort(jobs);
        next[i].waiting.pop_front();
        start(next, open);
      }
    }
    if (!any) {
      pass(situation, situation.size(), 0, open);
    }
  }

  [[nodiscard]] bool is_interrupted(const Situation& situation) const {
    for (std::size_t i = 0; i < situation.size(); ++i) {
      if (demands_[i].interrupt && !situation[i].running.empty()) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool group_runs(const Situation& situation, std::size_t i) const {
    for (std::size_t other = 0; !demands_[i].reentrant && other < demands_.size(); ++other) {
      if (!situation[other].running.empty() && demands_[other].group == demands_[i].group) {
        return true;
      }
    }
    return false;
  }

  // `held`, `of_it`: the callback of which this job does not go on.
  void pass(Situation situation, std::size_t held, std::size_t of_it,
            std::vector<Situation>& open) {
    for (std::size_t i = 0; i < situation.size(); ++i) {
      Callback& callback = situation[i];
      callback.credit = std::min(callback.credit + 1, most_credit(i));
      for (std::int64_t& age : callback.waiting) {
        ++age;
      }
      for (std::size_t job = 0; job < callback.running.size(); ++job) {
        Running& one = callback.running[job];
        ++one.age;
        one.left -= i == held && job == of_it ? 0 : 1;
        if (one.left == 0) {
          longest_[i] = std::max(longest_[i], one.age);
        }
      }
      std::erase_if(callback.running, [](const Running& one) { return one.left == 0; });
      std::ranges::sort(callback.running);
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

struct Held {
  int interrupted = 0;
  int reentrant = 0;
  int reached = 0;
  int bounded = 0;
};

// A drawn set: its bounds and its longest responses. `reentrant`: some of its callbacks are.
void hold(std::uint64_t seed, bool reentrant, Held& held) {
  RandomTasks random{seed};
  const auto threads = static_cast<std::size_t>(random.number(2, 3));
  std::vector<Demand> demands;
  std::string set = std::to_string(threads) + " threads";
  // Long jobs, of which one that began before delays others, in sets of three.
  const auto count = static_cast<std::size_t>(random.number(reentrant ? 2 : 3, reentrant ? 3 : 4));
  const bool interrupts = count == 3 && random.chance(0.5);
  const std::int64_t most = interrupts ? 2 : count <= 3 ? 6 : 3;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t execution = random.number(1, most);
    const std::int64_t least = reentrant ? 1 + execution / 2 : execution + 1;
    demands.push_back(
        {.task = i,
         .group = static_cast<std::size_t>(random.number(0, 3)),
         .releases = {.period = nanoseconds{random.number(least, interrupts ? 8 : 3 * most)}},
         .execution = nanoseconds{execution}});
    if (reentrant && (i == 0 || random.chance(0.4))) {
      demands.back().reentrant = true;
      demands.back().group = 4 + i;
      demands.back().releases.jitter =
          demands.back().releases.period * (count < 3 && random.chance(0.5) ? 1 : 0);
    }
    set += "; C " + std::to_string(execution) + " T " +
           std::to_string(demands.back().releases.period.count()) + " J " +
           std::to_string(demands.back().releases.jitter.count()) + " group " +
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
    return;
  }
  const std::vector<std::int64_t> longest = EveryRun{demands, threads}.run();
  held.interrupted += !longest.empty() && demands.back().interrupt ? 1 : 0;
  for (std::size_t i = 0; i < std::min(longest.size(), count); ++i) {
    EXPECT_LE(longest[i], bounds[i].bound->count()) << "callback " << i << " of " << set;
    held.reached += longest[i] == bounds[i].bound->count() ? 1 : 0;
    held.reentrant += demands[i].reentrant ? 1 : 0;
    ++held.bounded;
  }
}

Held hold_all(bool reentrant) {
  Held held;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(60));
  for (std::uint64_t seed = first_seed(); seed < end && !testing::Test::HasFailure(); ++seed) {
    hold(seed, reentrant, held);
  }
  std::cout << held.reached << " of " << held.bounded << " bounds are reached\n";
  EXPECT_GT(held.interrupted, 0);
  EXPECT_GT(held.bounded, rounds(60));
  EXPECT_GT(held.reached, rounds(20));
  return held;
}

TEST(threads, no_run_of_small_sets_is_above_the_bound) {
  hold_all(false);
}

TEST(threads, no_run_of_small_sets_with_reentrant_groups_is_above_the_bound) {
  EXPECT_GT(hold_all(true).reentrant, rounds(30));
}

}  // namespace
}  // namespace takt::analysis
