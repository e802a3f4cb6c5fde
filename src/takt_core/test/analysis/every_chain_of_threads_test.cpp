// SPDX-License-Identifier: Apache-2.0
//
// Chains through reentrant callbacks of rclcpp's multi-threaded executor against every run of small
// applications: their data may overtake each other.
#include <gtest/gtest.h>

#include <deque>
#include <iostream>
#include <optional>
#include <unordered_set>
#include <utility>

#include "analysis/documents.hpp"
#include "analysis/random_tasks.hpp"

namespace takt::analysis {
namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

struct ChainCallback {
  int period = 0;              // of a timer
  int worst = 1;               // jobs compute for 1 to so many ticks
  std::size_t after = nobody;  // the callback whose messages release it
  std::size_t group = 0;       // of which one job runs at a time
  bool reentrant = false;      // it has no group
  bool keeps = false;          // a subscription that only stores its message
  std::size_t reads = nobody;  // a timer: what this subscription has stored last
};

// A datum is how long ago its job of callback 0 was released; below 0: none.
struct ChainJob {
  int left = 0;
  int datum = -1;

  auto operator<=>(const ChainJob&) const = default;
};

struct ChainSituation {
  std::vector<int> until;                      // the next release of each timer
  std::vector<std::vector<ChainJob>> running;  // by callback, ascending
  std::vector<std::deque<int>> waiting;        // the data of its jobs
  int kept = -1;
  int arrived = -1;  // the newest datum that has reached the end of the chain

  [[nodiscard]] std::string key() const {
    std::string key{static_cast<char>(kept), static_cast<char>(arrived)};
    for (std::size_t i = 0; i < until.size(); ++i) {
      key += static_cast<char>(until[i]);
      for (const ChainJob& job : running[i]) {
        key += static_cast<char>(job.left);
        key += static_cast<char>(job.datum);
      }
      key += '\xfe';
      for (const int datum : waiting[i]) {
        key += static_cast<char>(datum);
      }
      key += '\xfe';
    }
    return key;
  }
};

// Timers have any phase, jobs any length, and of what is ready anything is taken.
class EveryChain {
 public:
  EveryChain(std::vector<ChainCallback> callbacks, std::size_t threads)
      : callbacks_(std::move(callbacks)), threads_(threads) {}

  // False: there are too many situations.
  bool run() {
    ChainSituation first{.until = std::vector<int>(callbacks_.size(), 0),
                         .running = std::vector<std::vector<ChainJob>>(callbacks_.size()),
                         .waiting = std::vector<std::deque<int>>(callbacks_.size())};
    begin(first, 0);
    while (!open_.empty() && known_.size() < 60'000 && !too_old_) {
      const ChainSituation next = std::move(open_.back());
      open_.pop_back();
      release(next);
    }
    return open_.empty() && !too_old_;
  }

  int latency = 0;
  int reaction = 0;
  int age = 0;

 private:
  void begin(ChainSituation& situation, std::size_t i) {
    if (i == callbacks_.size()) {
      add(situation);
      return;
    }
    for (int phase = 0; phase < std::max(callbacks_[i].period, 1); ++phase) {
      situation.until[i] = phase;
      begin(situation, i + 1);
    }
  }

  void add(const ChainSituation& situation) {
    if (known_.insert(situation.key()).second) {
      open_.push_back(situation);
    }
  }

  // What has passed when a timer's job starts is dropped.
  void release(ChainSituation situation) {
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      if (callbacks_[i].period > 0 && situation.until[i] == 0) {
        situation.until[i] = callbacks_[i].period;
        if (situation.waiting[i].empty()) {
          situation.waiting[i].push_back(i == 0 ? 0 : -1);
        }
      }
    }
    start(situation);
  }

  [[nodiscard]] bool may_start(const ChainSituation& situation, std::size_t i) const {
    std::size_t running = 0;
    bool is_free = true;
    for (std::size_t other = 0; other < callbacks_.size(); ++other) {
      running += situation.running[other].size();
      is_free = is_free && (callbacks_[i].reentrant || callbacks_[other].reentrant ||
                            callbacks_[other].group != callbacks_[i].group ||
                            situation.running[other].empty());
    }
    return running < threads_ && is_free && !situation.waiting[i].empty();
  }

  void start(const ChainSituation& situation) {
    bool any = false;
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      if (!may_start(situation, i)) {
        continue;
      }
      any = true;
      for (int time = 1; time <= callbacks_[i].worst; ++time) {
        ChainSituation next = situation;
        const int datum = callbacks_[i].reads == nobody ? next.waiting[i].front() : next.kept;
        next.running[i].push_back({.left = time, .datum = datum});
        std::ranges::sort(next.running[i]);
        next.waiting[i].pop_front();
        start(next);
      }
    }
    if (!any) {
      pass(situation, false);
      pass(situation, true);
    }
  }

  static void grow_older(int& datum) { datum += datum >= 0 ? 1 : 0; }

  // `newest_first`: of jobs of a callback that end at the same time.
  void pass(ChainSituation situation, bool newest_first) {
    grow_older(situation.kept);
    grow_older(situation.arrived);
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      situation.until[i] -= callbacks_[i].period > 0 ? 1 : 0;
      std::ranges::for_each(situation.waiting[i], grow_older);
      for (ChainJob& job : situation.running[i]) {
        --job.left;
        grow_older(job.datum);
      }
    }
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      std::vector<int> ended;
      for (const ChainJob& job : situation.running[i]) {
        if (job.left == 0) {
          ended.push_back(job.datum);
        }
      }
      std::erase_if(situation.running[i], [](const ChainJob& job) { return job.left == 0; });
      std::ranges::sort(ended);
      if (!newest_first) {
        std::ranges::reverse(ended);
      }
      for (const int datum : ended) {
        end(situation, i, datum);
      }
    }
    too_old_ = too_old_ || situation.kept > 120 || situation.arrived > 120;
    add(situation);
  }

  void end(ChainSituation& situation, std::size_t i, int datum) {
    for (std::size_t next = 0; next < callbacks_.size(); ++next) {
      if (callbacks_[next].after == i) {
        situation.waiting[next].push_back(datum);
      }
    }
    situation.kept = callbacks_[i].keeps ? datum : situation.kept;
    age = i + 1 == callbacks_.size() ? std::max(age, datum) : age;
    const bool is_newer = datum >= 0 && (situation.arrived < 0 || datum < situation.arrived);
    if (i + 1 == callbacks_.size() && is_newer) {
      latency = std::max(latency, datum);
      reaction = std::max(reaction, situation.arrived);
      situation.arrived = datum;
    }
  }

  std::vector<ChainCallback> callbacks_;
  std::size_t threads_;
  bool too_old_ = false;
  std::vector<ChainSituation> open_;
  std::unordered_set<std::string> known_;
};

std::string called(std::size_t callback) {
  return "c" + std::to_string(callback);
}

// `last`: its last callback ends the chain that begins with the first one. A subscription that
// keeps a message for a timer is no callback of the description.
application::Application as_application(const std::vector<ChainCallback>& callbacks,
                                        std::size_t threads) {
  std::string text;
  std::string chain;
  std::string topics;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    const ChainCallback& one = callbacks[i];
    if (one.keeps) {
      continue;
    }
    std::string more = ", 'writes': ['" + called(i) + "']";
    more += one.reentrant ? ", 'at_once': " + std::to_string(threads)
                          : ", 'group': 'g" + std::to_string(one.group) + "', 'node': 'n" +
                                std::to_string(one.group) + "'";
    if (one.reads != nobody) {
      more += ", 'reads': [{'topic': '" + called(callbacks[one.reads].after) + "'}]";
    }
    const std::string time = ", 'execution': {'best': 1, 'worst': " + std::to_string(one.worst) +
                             "}, 'priority': 1" + more + "}";
    text += (i == 0 ? "{'name': '" : ", {'name': '") + called(i) + "'" +
            (one.after == nobody ? ", 'period': " + std::to_string(one.period)
                                 : ", 'kind': 'message', 'overrun': 'catch_up', 'trigger': '" +
                                       called(one.after) + "'") +
            time;
    topics += (i == 0 ? "{'name': '" : ", {'name': '") + called(i) + "', 'depth': 16}";
    const bool on_the_way = i == 0 || one.after != nobody || one.reads != nobody;
    chain += on_the_way ? (chain.empty() ? "'" : ", '") + called(i) + "'" : "";
  }
  std::string cpus = "0";
  for (std::size_t i = 1; i < threads; ++i) {
    cpus += ", " + std::to_string(i);
  }
  return parsed(app(text, ", 'executor': 'rclcpp_multi_threaded', 'cpus': [" + cpus +
                              "], 'topics': [" + topics +
                              "], 'chains': [{'name': 'c', 'callbacks': [" + chain + "]}]"));
}

// The first callback or the one that it releases is reentrant; the last one ends the chain, by a
// message or as a timer that reads. Beside them a timer that is no part of it.
std::vector<ChainCallback> drawn_chain(RandomTasks& random, std::size_t threads) {
  const auto number = [&](int least, int most) {
    return static_cast<int>(random.number(least, most));
  };
  std::vector<ChainCallback> callbacks{{.period = number(3, 6), .worst = number(2, 5), .group = 0}};
  const bool reads = random.chance(0.4);
  callbacks.front().reentrant = reads || random.chance(0.6);
  const bool overtakes = reads && threads > 3;  // two later jobs may end before
  if (overtakes) {
    callbacks.front() = {.period = number(3, 4), .worst = number(7, 9), .reentrant = true};
  }
  if (!overtakes && random.chance(0.5)) {
    callbacks.push_back({.period = number(4, 8), .worst = number(1, 4), .group = 1});
  }
  if (reads) {
    callbacks.push_back({.after = 0, .group = 2, .keeps = true});
    callbacks.push_back({.period = number(3, overtakes ? 9 : 6),
                         .worst = number(1, 2),
                         .group = 2,
                         .reads = callbacks.size() - 1});
  } else {
    callbacks.push_back({.worst = number(1, 3), .after = 0, .group = 3});
    callbacks.back().reentrant = !callbacks.front().reentrant || random.chance(0.4);
    if (random.chance(0.3)) {
      callbacks.push_back({.worst = number(1, 2),
                           .after = callbacks.size() - 1,
                           .group = random.chance(0.5) ? 3U : 4U});
    }
  }
  return callbacks;
}

// Two later jobs end before one that computes for longer than two periods: its datum is used until
// the third one has come. In order, it would be used until the next one has.
TEST(threads, overtaken_data_is_used_for_longer_than_data_in_order) {
  const std::vector<ChainCallback> callbacks{
      {.period = 4, .worst = 9, .reentrant = true},
      {.after = 0, .group = 1, .keeps = true},
      {.period = 7, .worst = 1, .group = 1, .reads = 1},
  };
  const Report report =
      analyse(as_application(callbacks, 5), {.sensitivity = false, .proposals = false});
  const ScenarioReport& scenario = report.scenarios.front();
  const auto response = [&](const char* name) {
    return callback(scenario, name).response->count();
  };
  EveryChain every{callbacks, 5};
  ASSERT_TRUE(every.run());
  const auto in_order = 4 + response("c0") + response("c2.c0") + response("c2");
  EXPECT_GT(every.age, in_order);
  ASSERT_TRUE(scenario.chains.front().age.has_value());
  EXPECT_LE(every.age, scenario.chains.front().age->count());
}

TEST(threads, no_run_of_small_chains_through_reentrant_callbacks_is_above_their_bounds) {
  int held = 0;
  int reached = 0;
  int reactions = 0;
  int ages = 0;
  int oldest = 0;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(60));
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    RandomTasks random{seed};
    const auto threads = static_cast<std::size_t>(random.number(2, 6));
    const std::vector<ChainCallback> callbacks = drawn_chain(random, threads);
    const Report report =
        analyse(as_application(callbacks, threads), {.sensitivity = false, .proposals = false});
    const ChainReport& chain = report.scenarios.front().chains.front();
    EveryChain every{callbacks, threads};
    if (!chain.latency || !every.run() || every.latency == 0) {
      continue;
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    EXPECT_LE(every.latency, chain.latency->count());
    ++held;
    reached += every.latency == chain.latency->count() ? 1 : 0;
    if (chain.reaction && every.reaction > 0) {
      EXPECT_LE(every.reaction, chain.reaction->count());
      ++reactions;
    }
    if (chain.age && callbacks.back().reads != nobody) {
      EXPECT_LE(every.age, chain.age->count());
      ++ages;
      oldest += every.age == chain.age->count() ? 1 : 0;
    }
  }
  std::cout << reached << " of " << held << " latencies are reached, " << reactions
            << " reactions and " << ages << " ages of what a timer reads held, " << oldest
            << " of these reached\n";
  EXPECT_GT(held, rounds(20));
  EXPECT_GT(reached, rounds(3));
  EXPECT_GT(reactions, rounds(5));
  if (rounds(60) >= 60) {  // of a few chains perhaps none ends in a timer that reads
    EXPECT_GT(ages, 3);
  }
}

}  // namespace
}  // namespace takt::analysis
