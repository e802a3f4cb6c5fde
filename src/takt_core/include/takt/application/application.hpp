// SPDX-License-Identifier: Apache-2.0
//
// One description of an application, for all three readings: the analysis bounds it, the simulator
// plays it in virtual time, the runner executes it. app.yaml is read and checked by the tool, which
// hands it on in the flat form of parse.hpp; what an executor decides by (sched::Task) is in it
// unchanged, and around it what only a model needs: how long a job computes, how large a message
// is, which chains matter.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "takt/sched/strategy.hpp"
#include "takt/sched/task.hpp"
#include "takt/visibility.hpp"

namespace takt::application {

using std::chrono::nanoseconds;

// How long one job computes, without what it pays for messages and dispatching. `quantiles` is the
// inverse of the distribution function at evenly spaced probabilities from 0 to 1, linear in
// between: one value is a constant, two a uniform range, a thousand any distribution. Ascending.
// The bounds may lie outside of the quantiles: what was declared need not be what was observed.
struct TAKT_CORE_PUBLIC ExecutionTime {
  nanoseconds best{0};
  nanoseconds worst{0};
  std::vector<nanoseconds> quantiles = {};

  // The value at a probability of 0..1.
  [[nodiscard]] nanoseconds at(double probability) const noexcept;
};

struct TAKT_CORE_PUBLIC Callback {
  sched::Task task = {};  // expected_execution is the worst case
  std::string node = {};  // baseline1 runs each node in a process of its own
  ExecutionTime execution = {};
  nanoseconds jitter{0};  // of the release: the longest time from it to its being noticed
  // The longest that one job sleeps or waits for a device in all, while others run. Above 0 exactly
  // where task.waits says so.
  nanoseconds suspension{0};
  // In how many pieces, at most; 0: nobody knows. Each time that it goes on it may preempt
  // somebody.
  std::int64_t suspensions = 0;

  // `node`, or where it is empty the callback's name up to its first dot.
  [[nodiscard]] std::string node_name() const;
};

struct Topic {
  std::string name = {};
  std::size_t bytes = 0;  // payload of one message
  std::size_t depth = 1;  // KEEP_LAST
  bool reliable = true;
  bool external = false;           // written by somebody else ...
  nanoseconds external_period{0};  // ... this often; 0: not at all
};

// A path of data through the application: each callback reads what the one before it writes.
struct Chain {
  std::string name = {};
  std::vector<std::string> callbacks = {};
  nanoseconds max_latency{
      0};  // from a release of the first to the end of the last; 0: unconstrained
};

// A switch of the scenario at a time after the start, for simulation and execution.
struct Switch {
  nanoseconds at{0};
  std::string scenario = {};
};

// CPU time that the executor and the middleware take on a machine, as measured there. Zero means
// that it is left out, and reports say so.
struct TAKT_CORE_PUBLIC Overheads {
  nanoseconds dispatch{0};    // per job: choosing, starting and ending it
  nanoseconds preemption{0};  // per preemption: leaving the core and coming back to it
  nanoseconds release{0};     // per release: what its noticing takes from whatever runs
  nanoseconds publish{0};     // per message written
  nanoseconds publish_per_kib{0};
  nanoseconds deliver{0};  // per message read
  nanoseconds deliver_per_kib{0};

  [[nodiscard]] bool any() const noexcept;
};

struct TAKT_CORE_PUBLIC Application {
  std::string name = {};
  std::string policy = "fp";  // a name of sched::parse_policy
  std::vector<int> cpus = {0};
  std::vector<Callback> callbacks = {};
  std::vector<Topic> topics = {};
  std::vector<Chain> chains = {};
  std::optional<sched::SchedulingStrategy> strategy = {};  // none: one scenario, "default"
  std::vector<Switch> switches = {};
  Overheads overheads = {};

  [[nodiscard]] std::vector<sched::Task> tasks() const;  // in the order of the callbacks
  [[nodiscard]] std::vector<std::string> external_topics() const;
  [[nodiscard]] const Topic* find_topic(const std::string& topic) const noexcept;
  // The priority of each node where a node has one, as a process of its own: the highest of its
  // callbacks; rate-monotonic where a callback leaves its own to the policy. Throws as
  // sched::TaskSet does.
  [[nodiscard]] std::map<std::string, int> node_priorities() const;

  // The same, where each callback reads and writes what any scenario adds: in each of them messages
  // come and go alike. For whoever makes publishers and subscriptions, or counts their messages;
  // how old data may be stays a matter of each scenario.
  [[nodiscard]] Application with_topics_of_scenarios() const;

  // What a job of this callback costs at most besides what it computes: dispatching, one preemption
  // each time that it takes the core (once more for each of its suspensions), each topic that it
  // writes, a full queue of each topic that it reads. `task` has the topics of all scenarios
  // (CompiledStrategy::tasks()): in each of them messages come and go alike.
  [[nodiscard]] nanoseconds worst_overhead(const Callback& callback,
                                           const sched::Task& task) const noexcept;
};

}  // namespace takt::application
