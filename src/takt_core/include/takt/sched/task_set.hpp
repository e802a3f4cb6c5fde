// SPDX-License-Identifier: Apache-2.0
//
// A task set is a list of tasks that has been checked as a whole, and completed: every default,
// every inherited priority and deadline is filled in. What passes here can be analysed, simulated
// and executed; what does not pass is refused before anything spins.
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

// One reader's limit on the age of one topic. The age of data counts from the release of the timer
// job at the head of the chain that produced it: that is when it was sampled.
struct AgeConstraint {
  TaskIndex reader = 0;
  std::string topic;
  nanoseconds max_age{0};

  // The timer task whose job samples the data: the writer itself, or the timer upstream of a writer
  // that is released by messages. Empty when the data comes from outside: then its age is watched,
  // but nothing can be released early to keep it.
  std::optional<TaskIndex> source;

  // From the release of the source to the end of the writer, at best: the declared execution times
  // along the chain.
  nanoseconds youngest{0};

  // Without early releases: period of the source plus the deadlines along the chain (Davare et al.
  // 2007, period plus response time per stage; responses are within deadlines where they are met).
  nanoseconds oldest{0};

  // How long after its release the reader starts, at most: the data must be young enough even then.
  // Its deadline says so; under fixed priorities declared execution times say more. To them comes a
  // tenth of max_age for what nobody declares (noticing, dispatching, waking up).
  nanoseconds latest_start{0};

  // A sample that was taken so long before the reader's release, or later, will do.
  [[nodiscard]] nanoseconds longest_use() const noexcept {
    return std::max(youngest, max_age - latest_start);
  }

  // So long before the reader's release the source is released early where it has to be: as soon as
  // its sample is of use, so that it can wait for others, but at most half of the reader's period
  // (0: nobody knows the release before it comes), so that two of them do not meet.
  nanoseconds reader_period{0};
  [[nodiscard]] nanoseconds lead() const noexcept {
    return std::max(youngest, std::min(longest_use(), reader_period / 2));
  }

  // Whether the source must sometimes be released early.
  [[nodiscard]] bool needs_early_release() const noexcept {
    return source.has_value() && oldest > max_age;
  }
};

class TAKT_CORE_PUBLIC TaskSet {
 public:
  // Checks and completes the tasks, then lets the policy assign and check what it needs. Throws
  // ScheduleError for: no name, a name twice; times that are negative or above longest_time; a
  // timer without period; a priority outside of 1..98; an expected execution time above the
  // deadline; a message task without trigger, a timer with one; a topic that is read, but neither
  // written by a task nor named in `external_topics`; a maximum age that no schedule can keep; a
  // task that waits in an exclusive group, or under a policy other than preemptive fixed
  // priorities; and what the policy refuses.
  TaskSet(std::vector<Task> tasks, const Policy& policy,
          std::span<const std::string> external_topics = {});

  [[nodiscard]] const std::vector<Task>& tasks() const noexcept { return tasks_; }
  [[nodiscard]] const std::vector<AgeConstraint>& age_constraints() const noexcept { return ages_; }
  [[nodiscard]] std::optional<TaskIndex> find(std::string_view name) const noexcept;

 private:
  std::vector<Task> tasks_;
  std::vector<AgeConstraint> ages_;
};

}  // namespace takt::sched
