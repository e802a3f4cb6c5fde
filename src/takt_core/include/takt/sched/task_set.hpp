// SPDX-License-Identifier: Apache-2.0
/// @file
/// A task set is a list of tasks that was checked as a whole and completed: every default and every
/// inherited priority and deadline is filled in. A task set that passes can be analysed, simulated
/// and executed; all others are refused before anything spins.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/sched/policy.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

/// One reader's limit on the age of one topic. The age of data counts from its sampling, the
/// release of the timer job at the head of the chain that produced it.
struct AgeConstraint {
  TaskIndex reader = 0;    ///< The task that limits the age.
  std::string topic;       ///< The topic that it reads.
  nanoseconds max_age{0};  ///< The limit; above 0.

  /// The timer task whose job samples the data: the writer itself, or the timer upstream of a
  /// writer that is released by messages. Empty if the data comes from outside, or through a join,
  /// whose other callbacks it waits for: then its age is watched, but nothing is released early to
  /// keep it.
  std::optional<TaskIndex> source;

  /// The shortest time from the release of the source to the end of the writer: the declared
  /// execution times along the chain.
  nanoseconds youngest{0};

  /// The greatest age without early releases: the period of the source plus the deadlines along the
  /// chain (Davare et al. 2007: period plus response time for each stage; responses are within
  /// deadlines if these are met).
  nanoseconds oldest{0};

  /// How long after its release the reader starts at the latest: the data must be young enough even
  /// then. Its deadline bounds this; under fixed priorities declared execution times give a tighter
  /// bound. A tenth of max_age is added for undeclared costs (noticing, dispatching, waking up).
  nanoseconds latest_start{0};

  /// A sample that was taken at most this long before the reader's release is young enough.
  [[nodiscard]] nanoseconds longest_use() const noexcept {
    return std::max(youngest, max_age - latest_start);
  }

  /// Period of the reader; 0: its releases cannot be foreseen.
  nanoseconds reader_period{0};

  /// How long before the reader's release the source is released early if needed: as soon as its
  /// sample is useful, so that it can wait for other jobs, but at most half of the reader's period,
  /// so that two early releases do not coincide.
  [[nodiscard]] nanoseconds lead() const noexcept {
    return std::max(youngest, std::min(longest_use(), reader_period / 2));
  }

  /// Whether the source must sometimes be released early.
  [[nodiscard]] bool needs_early_release() const noexcept {
    return source.has_value() && oldest > max_age;
  }
};

/// A checked and completed list of tasks. Immutable.
class TAKT_CORE_PUBLIC TaskSet {
 public:
  /// Checks and completes the tasks, then lets the policy assign and check its parameters.
  /// @param tasks the tasks as declared.
  /// @param policy the policy of the scenario.
  /// @param external_topics topics that no task needs to write.
  /// @throws ScheduleError for an empty or repeated name; a time that is negative or above
  /// longest_time; a timer without period; a priority outside of 1..98; an expected execution time
  /// above the deadline; a message task without trigger, or a timer with one; a topic that is read,
  /// but neither written by a task nor external; a maximum age that no schedule can keep; a waiting
  /// task in an exclusive group, or under a policy other than preemptive fixed priorities; and for
  /// whatever the policy refuses.
  TaskSet(std::vector<Task> tasks, const Policy& policy,
          std::span<const std::string> external_topics = {});

  /// The completed tasks, by index.
  [[nodiscard]] const std::vector<Task>& tasks() const noexcept { return tasks_; }

  /// All limits on the age of data, by reader.
  [[nodiscard]] const std::vector<AgeConstraint>& age_constraints() const noexcept { return ages_; }

  /// The index of the task of that name; nothing if there is none.
  [[nodiscard]] std::optional<TaskIndex> find(std::string_view name) const noexcept;

 private:
  std::vector<Task> tasks_;
  std::vector<AgeConstraint> ages_;
};

}  // namespace takt::sched
