// SPDX-License-Identifier: Apache-2.0
//
// A task is a callback with what its timing needs: when it is released, how soon it must be done,
// how important it is, which data it reads and writes. Properties belong to the callback, not to
// the node. The description is plain data: the analysis, the simulator and the executor read it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace takt::sched {

using std::chrono::nanoseconds;

// Index of a task in its task set, dense from zero; what the user sees is the task's name.
using TaskIndex = std::uint32_t;

enum class TaskKind : std::uint8_t {
  timer,    // released every period
  message,  // released by every message of its topic
};

// What happens to a release that comes while the job before it has not ended.
enum class Overrun : std::uint8_t {
  skip,       // it is dropped and counted (the default: stale work is not made up for)
  queue_one,  // one is remembered, further ones are dropped and counted
  catch_up,   // all are executed, one after the other
};

// No period, offset, deadline or other time of a task is longer: sums of a few do not overflow
// then.
inline constexpr nanoseconds longest_time = std::chrono::hours{24 * 365 * 100};

// What a scenario may change of a task while the application runs.
struct TaskParameters {
  nanoseconds period{0};    // timer: distance of releases; message: minimum distance
  nanoseconds offset{0};    // first release, counted from the start of the executor
  nanoseconds deadline{0};  // relative to the release; 0: equal to the period
  int priority = 0;         // 1..98, 98 highest; 0: assigned by the policy (see Policy)
  // Of jobs that a reader needs which limits the age of their data: the reader's, where that is
  // higher; 0: none does. Found by TaskSet.
  int boosted_priority = 0;
  nanoseconds expected_execution{0};  // worst case as declared; 0: unknown
  nanoseconds budget{0};              // CPU time of one job; 0: not watched
  Overrun overrun = Overrun::skip;
  bool active = true;  // an inactive task has no releases
};

// One topic that a task reads.
struct Read {
  std::string topic;
  nanoseconds max_age{0};  // oldest data that the task may use; 0: unconstrained
};

struct Task {
  std::string name;  // unique in the application, "node.callback" by custom
  TaskKind kind = TaskKind::timer;
  TaskParameters parameters = {};
  std::string trigger = {};              // the topic that releases a message task
  std::vector<Read> reads = {};          // delivered before the callback runs
  std::vector<std::string> writes = {};  // topics that it publishes
  std::string group = {};  // exclusive group: at most one job of it at a time; "": none
  int cpu = -1;            // the core; -1: chosen by the partitioning
  // The longest time from a release to its being noticed, as far as it is known.
  nanoseconds jitter{0};
  // Its callback sleeps or waits for a device: it has a thread of its own, others run while it
  // waits, and it continues at its place in the order.
  bool waits = false;
  bool paused = false;  // no releases, whatever scenarios say
  bool vacant = false;  // stands where a task has gone, so that the others keep their indices
};

constexpr int highest_priority_of(const TaskParameters& parameters) noexcept {
  return std::max(parameters.priority, parameters.boosted_priority);
}

// The relative deadline that counts: the declared one, or the period.
constexpr nanoseconds relative_deadline(const TaskParameters& parameters) noexcept {
  return parameters.deadline.count() > 0 ? parameters.deadline : parameters.period;
}

}  // namespace takt::sched
