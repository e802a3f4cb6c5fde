// SPDX-License-Identifier: Apache-2.0
/// @file
/// One description of an application for three purposes: the analysis bounds it, the simulator runs
/// it in virtual time, the runner executes it. The tool reads and checks app.yaml and passes it on
/// in the flat form of parse.hpp. The description contains what an executor decides by
/// (sched::Task), and in addition what only models need: how long a job computes, how large a
/// message is, which chains matter.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "takt/application/core.hpp"
#include "takt/application/lock.hpp"
#include "takt/application/reservation.hpp"
#include "takt/application/segment.hpp"
#include "takt/sched/strategy.hpp"
#include "takt/sched/task.hpp"
#include "takt/visibility.hpp"

namespace takt::application {

using std::chrono::nanoseconds;

/// How long one job computes, without the costs of messages and dispatching.
///
/// `quantiles` is the inverse distribution function at evenly spaced probabilities from 0 to 1,
/// linear in between: one value is a constant, two are a uniform range, a thousand any
/// distribution. The bounds may lie outside of the quantiles, because what was declared need not
/// have been observed.
struct TAKT_CORE_PUBLIC ExecutionTime {
  nanoseconds best{0};                      ///< Lower bound.
  nanoseconds worst{0};                     ///< Upper bound.
  std::vector<nanoseconds> quantiles = {};  ///< Ascending.

  /// The quantile at a probability of 0..1.
  [[nodiscard]] nanoseconds at(double probability) const noexcept;
};

/// How many messages one job publishes on a topic.
struct MessageCount {
  std::int64_t least = 1;  ///< At least; above 0.
  std::int64_t most = 1;   ///< At most.

  friend bool operator==(const MessageCount&, const MessageCount&) = default;
};

/// A callback of the application.
struct TAKT_CORE_PUBLIC Callback {
  sched::Task task = {};  ///< Its scheduling; expected_execution is the worst case.
  /// Its node; the approach baseline1 runs each node in a process of its own.
  std::string node = {};
  ExecutionTime execution = {};  ///< How long its jobs compute.
  nanoseconds jitter{0};         ///< The longest time from a release until it is noticed.
  /// The longest that one job sleeps or waits for a device in total, while others run; without the
  /// calls of its segments. If it is above 0, task.waits is set.
  nanoseconds suspension{0};
  /// The most suspensions of one job, after each of which it may preempt another one; 0: unknown.
  std::int64_t suspensions = 0;
  /// What one job does, one after the other: it computes, waits, and so on, and computes last.
  /// Their sums are in `execution` and `suspension`. Empty: it may wait anywhere.
  std::vector<Segment> segments = {};
  /// A server: task.trigger is a service, whose requests release it. It answers when its job ends.
  bool server = false;
  /// Index of its process in Application::processes; 0 where there are none.
  std::size_t process = 0;
  /// The shortest time from a release until it is noticed.
  nanoseconds least_jitter{0};
  /// How many messages one job publishes on a topic of task.writes; those that are not named get
  /// one.
  std::map<std::string, MessageCount> messages = {};
  /// Whether each of its messages may come at any time while the job computes; otherwise all of
  /// them come at its end.
  bool publishes_anywhere = false;

  /// The join that it belongs to; empty: none. The callbacks of one node with the same name form
  /// one (sched/join.hpp): its topics are written only by the job that completes the set.
  std::string join = {};

  /// Where several jobs may run at once (sched/turns.hpp): its number among the lanes, which follow
  /// each other in Application::callbacks. A timer's lane has the period of all of them, a
  /// subscription's is released by each `lanes`-th message.
  std::size_t lane = 0;
  std::size_t lanes = 1;  ///< How many there are; 1: one job at a time.
  /// In a Reentrant group of rclcpp: each thread of the executor may run one of its jobs.
  bool reentrant = false;

  /// While it computes it holds locks: ascending by begin, the enclosing section first. Any two
  /// are disjoint or nested. Their names are in task.locks.
  std::vector<CriticalSection> critical_sections = {};

  /// Of a thread beside the executor (Thread): its execution time contains all that it costs.
  bool in_thread = false;

  /// Whether it has critical sections.
  [[nodiscard]] bool holds_locks() const noexcept { return !critical_sections.empty(); }

  /// Whether its jobs call services and wait for the responses.
  [[nodiscard]] bool calls() const noexcept;

  /// How many messages one job publishes on a topic that it writes; requests of a service that it
  /// calls.
  [[nodiscard]] MessageCount messages_on(const std::string& topic) const noexcept;

  /// `node`, or if it is empty the callback's name up to its first dot.
  [[nodiscard]] std::string node_name() const;
};

/// How long one waits for an event, at most.
struct Gap {
  nanoseconds between{0};  ///< Between two of them.
  nanoseconds first{0};    ///< From the start to the first one.

  friend bool operator==(const Gap&, const Gap&) = default;
};

/// A topic of the application.
struct Topic {
  std::string name = {};           ///< Unique in the application.
  std::size_t bytes = 0;           ///< Payload of one message.
  std::size_t depth = 1;           ///< Depth of the history (KEEP_LAST).
  bool reliable = true;            ///< Reliability of the QoS.
  bool external = false;           ///< Written by something outside of the application.
  bool local = false;              ///< Within a node: its messages cost nothing.
  nanoseconds external_period{0};  ///< Period of external messages; 0: none.
  /// Largest deviation of external messages from their period.
  nanoseconds external_jitter{0};
  nanoseconds external_distance{0};      ///< Least distance of external messages.
  std::optional<Gap> external_gap = {};  ///< Of external messages; nothing: they may stay away.
};

/// What a thread does with each message of a topic, before its process may take it.
struct TAKT_CORE_PUBLIC Receipt {
  std::string topic = {};        ///< One that the process reads, and others publish.
  ExecutionTime execution = {};  ///< For one message.
};

/// A thread of a process beside its executor: one of the middleware, which receives messages, or a
/// driver, which is released periodically and may publish. It takes what arrives in its order.
struct TAKT_CORE_PUBLIC Thread {
  std::string name = {};                 ///< Unique in the process.
  std::optional<int> cpu = {};           ///< Its core; nothing: that of its process.
  int priority = 0;                      ///< Real-time priority: 1..98, unique on the core.
  std::vector<Receipt> receives = {};    ///< Other messages reach the process without it.
  nanoseconds period{0};                 ///< Of a driver; 0: it receives.
  nanoseconds jitter{0};                 ///< Of a driver, as Callback::jitter.
  ExecutionTime execution = {};          ///< Of a driver, for each release.
  std::vector<std::string> writes = {};  ///< Of a driver: the topics that it publishes.
};

/// A process of a robot: an executor with one thread on one core, or with one on each of several.
/// Of processes that share a core those with a reservation (SCHED_DEADLINE) run before those with a
/// priority (SCHED_FIFO), and those with a nice value (SCHED_OTHER) after these.
struct TAKT_CORE_PUBLIC Process {
  std::string name = {};       ///< Unique in the robot.
  std::string policy = "fp";   ///< As Application::policy.
  int cpu = 0;                 ///< The core; of several one of them.
  std::vector<int> cpus = {};  ///< All cores of an executor with several; else empty.
  int priority = 0;            ///< Of its thread: 1..98, unique on the core; 0: not FIFO.
  std::optional<Reservation> reservation = {};  ///< In place of a priority.
  std::optional<int> nice = {};                 ///< In place of a priority: -20..19.
  /// With nice: what its control group may use of the core (cpu.max), a budget in each period.
  std::optional<Supply> quota = {};
  std::string host = {};             ///< The computer with the core; empty: there is one.
  std::vector<Thread> threads = {};  ///< Those beside its executor.
  /// Of a thread or core that is analysed and simulated as a process: that which it belongs to.
  std::string serves = {};
  /// Whether it stands for one core of an executor with several. All but the first one serve.
  bool one_of_cores = false;
};

/// The time from the publication of a message until a process other than the writer's notices it.
struct TAKT_CORE_PUBLIC Handover {
  nanoseconds least{0};  ///< At least.
  nanoseconds most{0};   ///< At most.
};

/// The network between two hosts.
struct TAKT_CORE_PUBLIC Link {
  std::array<std::string, 2> hosts = {};  ///< As Process::host; in both directions alike.
  Handover handover = {};  ///< Of messages to the other host, with the middleware on both.
  /// The highest share of messages that never arrive, in millionths; below `whole`.
  std::int64_t loss = 0;

  /// How much the rates of the two hosts' clocks differ at most, in millionths.
  std::int64_t drift = 0;
  /// The messages on which a measured link rests; 0: it is declared.
  std::int64_t measured = 0;

  static constexpr std::int64_t whole = 1'000'000;  ///< All messages.
};

/// A path of data through the application: each callback reads what the previous one writes, or is
/// the server that it calls.
struct Chain {
  std::string name = {};                    ///< Unique in the application.
  std::vector<std::string> callbacks = {};  ///< Names along the path.
  /// From a release of the first to the end of the last; 0: unconstrained.
  nanoseconds max_latency{0};
  bool goes_on = false;    ///< What releases the first one may have no newer data than before.
  bool published = false;  ///< Ends when the join of the last one publishes.
  bool overtaken = false;  ///< Older data may reach the first one after newer data.
  /// As described, where a callback calls a server and goes on with the response: in `callbacks` it
  /// is there once, for its job has waited for the server's. Empty: like `callbacks`.
  std::vector<std::string> described = {};
};

/// A switch of the scenario, for simulation and execution.
struct Switch {
  nanoseconds at{0};          ///< Time after the start.
  std::string scenario = {};  ///< The scenario to switch to.
};

/// CPU time that executor and middleware take on a machine, as measured there. Zero means that it
/// is left out, which reports state.
struct TAKT_CORE_PUBLIC Overheads {
  nanoseconds dispatch{0};    ///< For each job: choosing, starting and ending it.
  nanoseconds preemption{0};  ///< For each preemption: leaving the core and returning.
  nanoseconds release{0};     ///< For each release: taken from whatever runs when it is noticed.
  nanoseconds publish{0};     ///< For each message written.
  nanoseconds publish_per_kib{0};  ///< In addition for each KiB.
  nanoseconds deliver{0};          ///< For each message read.
  nanoseconds deliver_per_kib{0};  ///< In addition for each KiB.

  /// Whether any of them is not zero.
  [[nodiscard]] bool any() const noexcept;
};

/// The whole description.
struct TAKT_CORE_PUBLIC Application {
  std::string name = {};  ///< Appears in reports.
  /// A name of sched::parse_policy(), or one of rclcpp's executors: "rclcpp_single_threaded",
  /// "rclcpp_multi_threaded", "rclcpp_events".
  std::string policy = "fp";
  std::vector<int> cpus = {0};           ///< CPUs to place the tasks on.
  std::vector<Core> cores = {};          ///< What is known about these; the others are whole.
  std::vector<Callback> callbacks = {};  ///< All callbacks; their order is that of task indices.
  std::vector<Topic> topics = {};        ///< All topics.
  std::vector<Lock> locks = {};          ///< What the critical sections of callbacks hold.
  std::vector<Chain> chains = {};        ///< The chains to report.
  std::optional<sched::SchedulingStrategy> strategy = {};  ///< Nothing: one scenario, "default".
  std::vector<Switch> switches = {};                       ///< Ascending in time.
  Overheads overheads = {};                                ///< Costs to include.
  std::vector<Process> processes = {};  ///< Of a robot; empty: one process, with `policy`.
  Handover handover = {};               ///< Of messages between processes of a host.
  std::vector<Link> links = {};         ///< Between hosts.

  /// The tasks, in the order of the callbacks.
  [[nodiscard]] std::vector<sched::Task> tasks() const;

  /// The joins: of each the indices of its callbacks, in their order.
  [[nodiscard]] std::vector<std::vector<std::size_t>> joins() const;

  /// The server of a service: its index in `callbacks`; `callbacks.size()` if there is none.
  [[nodiscard]] std::size_t server_of(const std::string& service) const noexcept;

  /// What requests and responses of one job of this callback cost: those that it sends as a
  /// client, and the response of a server.
  [[nodiscard]] nanoseconds cost_of_calls(const Callback& callback) const noexcept;

  /// Names of the topics that come from outside, and of the services, which no topic leads to.
  [[nodiscard]] std::vector<std::string> external_topics() const;

  /// What is known about a CPU; null if nothing is.
  [[nodiscard]] const Core* find_core(int cpu) const noexcept;

  /// The topic of that name; null if there is none.
  [[nodiscard]] const Topic* find_topic(const std::string& topic) const noexcept;

  /// The priority of each node, for an approach in which a node has a single one, as a process of
  /// its own: the highest of its callbacks; rate-monotonic if a callback leaves its own to the
  /// policy.
  /// @throws sched::ScheduleError as sched::TaskSet does.
  [[nodiscard]] std::map<std::string, int> node_priorities() const;

  /// A copy in which each callback reads and writes the topics of all scenarios, since messages are
  /// exchanged alike in each of them. For code that creates publishers and subscriptions or counts
  /// messages; maximum ages remain those of each scenario.
  [[nodiscard]] Application with_topics_of_scenarios() const;

  /// The largest overhead of one job of this callback, besides its computation: dispatching, one
  /// preemption each time that it takes the core (again after each suspension), each message that
  /// it writes, and a full queue of each topic that it reads.
  /// @param callback the callback.
  /// @param task its task with the topics of all scenarios (CompiledStrategy::tasks()), since
  /// messages are exchanged alike in each of them.
  [[nodiscard]] nanoseconds worst_overhead(const Callback& callback,
                                           const sched::Task& task) const noexcept;
};

}  // namespace takt::application
