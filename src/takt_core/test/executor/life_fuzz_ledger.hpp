// SPDX-License-Identifier: Apache-2.0
//
// The books of the life-cycle fuzz: what callbacks saw of their jobs, and what handlers were told
// of them. Nothing in it comes from the executor's own counters; at the end of a round the books,
// the counters and, where there is one, the trace must agree.
#pragma once

#include <compare>
#include <ctime>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "life_fuzz_watchdog.hpp"
#include "takt/executor/options.hpp"
#include "takt/trace/reader.hpp"

namespace takt::fuzz {

using os::TimePoint;
using std::chrono::nanoseconds;

inline nanoseconds cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + nanoseconds{time.tv_nsec};
}

// A job as its own callback saw it.
struct Observation {
  std::string task;
  nanoseconds budget{0};
  sched::Job job = {};
  TimePoint left;       // at the end of the callback: the job ends no earlier
  nanoseconds used{0};  // of CPU time by then
  std::optional<TimePoint> recorded_end = {};
};

class Ledger {
 public:
  void saw(Observation observation) {
    const Key key{observation.job.task, observation.job.index, observation.job.release};
    const std::lock_guard lock{mutex_};
    if (!observations_.emplace(key, std::move(observation)).second) {
      fail("job " + std::to_string(key.job) + " of task " + std::to_string(key.task) +
           " ran twice");
    }
  }

  // `returned`: when the handler did.
  void reported(const executor::Miss& miss, TimePoint returned) {
    const std::lock_guard lock{mutex_};
    misses_.push_back({miss, returned});
  }
  void reported(const executor::BudgetOverrun& overrun) {
    const std::lock_guard lock{mutex_};
    overruns_.push_back(overrun);
  }
  // Its removal is over: nobody may be told of its jobs any more.
  void removed(const std::string& task, TimePoint time) {
    const std::lock_guard lock{mutex_};
    removed_.emplace(task, time);
  }

  // The trace of one start.
  void read(const std::filesystem::path& path) {
    const trace::Trace trace = trace::read_trace(path);
    std::map<std::pair<std::uint16_t, std::uint64_t>, std::int64_t> releases;
    std::map<std::pair<std::string, std::pair<std::uint64_t, std::int64_t>>, TimePoint> ends;
    for (const trace::Event& event : trace.events) {
      if (event.type == trace::EventType::release) {
        releases[{event.task, event.job}] = event.time;
      } else if (event.type == trace::EventType::end) {
        const auto release = releases.find({event.task, event.job});
        if (release != releases.end()) {
          ends[{trace.tasks.at(event.task), {event.job, release->second}}] =
              TimePoint{nanoseconds{event.time}};
        }
      }
    }
    for (auto& [key, observation] : observations_) {
      const auto end =
          ends.find({observation.task, {key.job, key.release.time_since_epoch().count()}});
      if (end != ends.end()) {
        observation.recorded_end = end->second;
      }
    }
  }

  // The executor has stopped. `misses`, `budgets`: whether there was a handler for them.
  void expect_agreement(bool misses, bool budgets) const {
    std::set<Key> reported;
    for (const auto& [miss, returned] : misses_) {
      const Key key{miss.task, miss.job, miss.release};
      const auto found = observations_.find(key);
      if (found == observations_.end()) {
        fail("a miss was told of job " + std::to_string(miss.job) + " of task " +
             std::to_string(miss.task) + ", which did not run");
      }
      const Observation& observation = found->second;
      expect(reported.insert(key).second, observation, "was told as missed twice");
      expect(miss.deadline == observation.job.deadline, observation,
             "was told with another deadline");
      expect(miss.ended > miss.deadline, observation,
             "was told as missed at or before its deadline");
      expect(miss.running || miss.ended >= observation.left, observation,
             "was told to end before it had");
      if (observation.recorded_end) {
        expect(*observation.recorded_end > miss.deadline, observation,
               "ended in time and was told as missed");
        expect(miss.running ? miss.ended <= *observation.recorded_end
                            : miss.ended == *observation.recorded_end,
               observation, "was told with another end");
      }
      const auto gone = removed_.find(observation.task);
      expect(gone == removed_.end() || returned <= gone->second, observation,
             "was told of after its task had gone");
    }
    for (const auto& [key, observation] : observations_) {
      const bool late =
          observation.recorded_end.value_or(observation.left) > observation.job.deadline;
      expect(!misses || !late || reported.contains(key), observation,
             "was late, and nobody was told");
    }
    expect_budgets(budgets);
  }

  // How many jobs of a task were told as missed, or known to be over their budget.
  [[nodiscard]] std::uint64_t misses_of(const std::string& task) const {
    std::uint64_t count = 0;
    for (const auto& [miss, returned] : misses_) {
      count += observations_.at({miss.task, miss.job, miss.release}).task == task ? 1U : 0U;
    }
    return count;
  }
  [[nodiscard]] std::uint64_t overruns_of(const std::string& task) const {
    std::uint64_t count = 0;
    for (const auto& [key, observation] : observations_) {
      count += observation.task == task && is_over(observation) ? 1U : 0U;
    }
    return count;
  }
  [[nodiscard]] std::size_t misses() const { return misses_.size(); }
  [[nodiscard]] std::size_t overruns() const { return overruns_.size(); }

 private:
  struct Key {
    sched::TaskIndex task = 0;
    std::uint64_t job = 0;
    TimePoint release;

    auto operator<=>(const Key&) const = default;
  };

  static void expect(bool holds, const Observation& observation, const char* what) {
    if (!holds) {
      const auto ns = [](TimePoint time) {
        return std::to_string(time.time_since_epoch().count());
      };
      fail("job " + std::to_string(observation.job.index) + " of '" + observation.task + "' " +
           what + " (release " + ns(observation.job.release) + ", deadline " +
           ns(observation.job.deadline) + ", left " + ns(observation.left) + ", end " +
           (observation.recorded_end ? ns(*observation.recorded_end) : "unknown") + ")");
    }
  }

  static bool is_over(const Observation& observation) {
    return observation.budget.count() > 0 && observation.used > observation.budget;
  }

  // An overrun does not say when its job was released: of those with its index, as many at most.
  void expect_budgets(bool has_handler) const {
    struct Count {
      std::uint64_t reported = 0;
      std::uint64_t possible = 0;
      std::uint64_t certain = 0;
    };
    std::map<std::pair<sched::TaskIndex, std::uint64_t>, Count> counts;
    for (const executor::BudgetOverrun& overrun : overruns_) {
      if (overrun.used <= overrun.budget) {
        fail("a job was told to be over a budget that it had not used up");
      }
      ++counts[{overrun.task, overrun.job}].reported;
    }
    for (const auto& [key, observation] : observations_) {
      Count& count = counts[{key.task, key.job}];
      count.possible += observation.budget.count() > 0 ? 1U : 0U;
      count.certain += is_over(observation) ? 1U : 0U;
    }
    for (const auto& [key, count] : counts) {
      if (count.reported > count.possible || (has_handler && count.reported < count.certain)) {
        fail("of jobs " + std::to_string(key.second) + " of task " + std::to_string(key.first) +
             " " + std::to_string(count.reported) + " were told to be over their budget, of " +
             std::to_string(count.possible) + " that have one and " +
             std::to_string(count.certain) + " that were");
      }
    }
  }

  mutable std::mutex mutex_;
  std::map<Key, Observation> observations_;
  std::vector<std::pair<executor::Miss, TimePoint>> misses_;
  std::vector<executor::BudgetOverrun> overruns_;
  std::map<std::string, TimePoint> removed_;  // by unique name
};

}  // namespace takt::fuzz
