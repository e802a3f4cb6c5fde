// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/oracle.hpp"
#include "takt/analysis/demand.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

// As many times the usual ones as TAKT_TEST_ROUNDS says: above 1 for long runs by hand, below for
// sanitizers, which slow each round down and look at memory, not at bounds.
inline int rounds(int usual) {
  const char* const factor = std::getenv("TAKT_TEST_ROUNDS");
  return factor == nullptr ? usual : std::max(1, static_cast<int>(usual * std::atof(factor)));
}

// TAKT_TEST_SEED looks at others.
inline std::uint64_t first_seed() {
  const char* const seed = std::getenv("TAKT_TEST_SEED");
  return seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10);
}

inline application::Overheads one_tick_each() {
  constexpr nanoseconds tick{1};
  return {.dispatch = tick, .preemption = tick, .release = tick, .publish = tick, .deliver = tick};
}

// Seeded, so that a failure can be repeated.
class RandomTasks {
 public:
  explicit RandomTasks(std::uint64_t seed) : engine_(seed) {}

  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution{least, most}(engine_);
  }
  bool chance(double share) { return std::bernoulli_distribution{share}(engine_); }

  struct Form {
    std::int64_t most_tasks = 4;
    double most_utilization = 1;  // sets above are drawn again
    double least_deadline = 0.4;
    double most_deadline = 1;  // in periods
    bool equal_priorities = false;
    bool groups = false;
  };

  std::vector<OracleTask> tasks(const Form& form) {
    constexpr std::array<std::int64_t, 9> periods = {4, 5, 6, 8, 10, 12, 15, 20, 30};
    for (;;) {
      std::vector<OracleTask> result(static_cast<std::size_t>(number(2, form.most_tasks)));
      for (OracleTask& task : result) {
        task.period = periods[static_cast<std::size_t>(number(0, periods.size() - 1))];
        task.execution = number(1, std::max<std::int64_t>(1, task.period / 2));
        const auto least =
            static_cast<std::int64_t>(form.least_deadline * static_cast<double>(task.period));
        const auto most =
            static_cast<std::int64_t>(form.most_deadline * static_cast<double>(task.period));
        task.deadline = std::max(task.execution, number(least, std::max(least, most)));
        if (form.groups && chance(0.6)) {
          task.group = static_cast<int>(number(1, 2));
        }
      }
      std::vector<int> priorities(result.size());
      for (std::size_t i = 0; i < priorities.size(); ++i) {
        priorities[i] = static_cast<int>(i + 1);
      }
      std::ranges::shuffle(priorities, engine_);
      for (std::size_t i = 0; i < result.size(); ++i) {
        result[i].priority = form.equal_priorities ? static_cast<int>(number(1, 2)) : priorities[i];
      }
      if (utilization(result) <= form.most_utilization + 1e-9) {
        return result;
      }
    }
  }

 private:
  std::mt19937_64 engine_;
};

// In any order: whoever is first is the most urgent.
template <class Task>
void shuffle(RandomTasks& random, std::vector<Task>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto other = random.number(0, static_cast<std::int64_t>(i));
    std::swap(all[i], all[static_cast<std::size_t>(other)]);
  }
}

// One of `count` demands, which together take up to about `share` of a core; its level is 0.
inline Demand draw_demand(RandomTasks& random, std::int64_t index, std::int64_t count,
                          std::int64_t share) {
  const auto period = random.number(4, 60);
  Demand demand{.task = static_cast<std::size_t>(index),
                .releases = {.period = nanoseconds{period}}};
  if (random.chance(0.4)) {
    demand.releases.jitter = nanoseconds{random.number(0, 2 * period)};
    demand.releases.distance = nanoseconds{random.number(0, period)};
  }
  demand.lag = nanoseconds{random.chance(0.25) ? random.number(1, period) : 0};
  demand.execution = nanoseconds{random.number(1, 1 + share * period / count)};
  return demand;
}

// Up to twelve on some levels, of which some, or all without preemption, have a ceiling.
inline std::vector<Demand> draw_levelled_demands(RandomTasks& random, bool preemptive) {
  std::vector<Demand> demands;
  const auto count = random.number(1, 12);
  const auto levels = random.number(1, count);
  for (std::int64_t i = 0; i < count; ++i) {
    Demand demand = draw_demand(random, i, count, 2);
    demand.level = static_cast<sched::Level>(random.number(1, levels));
    if (!preemptive) {
      demand.ceiling = static_cast<sched::Level>(levels);
    } else if (random.chance(0.2)) {
      demand.ceiling = static_cast<sched::Level>(random.number(1, levels));
    }
    demands.push_back(demand);
  }
  return demands;
}

inline std::string text(const std::vector<OracleTask>& tasks) {
  std::string result;
  for (const OracleTask& task : tasks) {
    result += "C=" + std::to_string(task.execution) + " T=" + std::to_string(task.period) +
              " D=" + std::to_string(task.deadline) + " P=" + std::to_string(task.priority) +
              " G=" + std::to_string(task.group) + "; ";
  }
  return result;
}

// All jobs of a while: released together or at random offsets, each noticed up to its task's lag
// later, or the first ones alone as late as can be.
inline std::vector<OracleJob> random_jobs(RandomTasks& random, const std::vector<OracleTask>& tasks,
                                          const std::vector<Demand>& demands, bool together) {
  std::vector<OracleJob> jobs;
  const bool first_late = random.chance(0.5);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::size_t first = jobs.size();
    add_periodic(jobs, tasks, i, together ? 0 : random.number(0, tasks[i].period), 120);
    for (std::size_t j = first; j < jobs.size(); ++j) {
      const std::int64_t lag = demands[i].lag.count();
      jobs[j].noticed += first_late ? (j == first ? lag : 0) : random.number(0, lag);
      if (j > first) {
        jobs[j].noticed = std::max(jobs[j].noticed, jobs[j - 1].noticed);
      }
    }
  }
  return jobs;
}

}  // namespace takt::analysis
