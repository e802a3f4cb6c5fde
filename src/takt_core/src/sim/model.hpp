// SPDX-License-Identifier: Apache-2.0
//
// The application during a simulation: its tasks, the topics between them with waiting messages,
// and its chains. partition.hpp decides which job runs when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics.hpp"
#include "random.hpp"
#include "takt/application/application.hpp"
#include "takt/sched/compiled_application.hpp"
#include "takt/sched/core_state.hpp"
#include "takt/sched/join.hpp"
#include "takt/sched/turns.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::sim {

using os::TimePoint;
using sched::Job;
using sched::TaskIndex;

class Partition;
struct TaskState;

// A callback as one step of a chain.
struct Position {
  static constexpr TimePoint no_data = TimePoint::min();

  TaskState* task = nullptr;
  Position* before = nullptr;  // null: the first
  // The release of the chain's first callback from which the present data comes; for a running job:
  // the data of that job.
  TimePoint origin = no_data;
  TimePoint stored = no_data;  // of the data that its last job left in its join
};

struct ChainState {
  explicit ChainState(const application::Chain& declared, bool with_percentiles)
      : chain(&declared),
        latency(with_percentiles),
        age(with_percentiles),
        reaction(with_percentiles) {}

  // A job of the last callback has ended.
  void end(TimePoint time) noexcept;

  const application::Chain* chain;
  std::deque<Position> positions;
  TimePoint last = Position::no_data;  // the newest origin that has reached the end
  std::uint64_t violations = 0;
  Times latency;
  Times age;
  Times reaction;
};

// A callback that a topic releases: the tasks of its lanes, and whose turn it is.
struct Triggered {
  explicit Triggered(std::size_t number) : turns(static_cast<std::uint32_t>(number)) {}

  std::vector<TaskState*> lanes;
  sched::Turns turns;
};

// The last `depth` messages of a topic. Each reader has its own position in the series and loses
// the messages that are overwritten before it reads them (KEEP_LAST).
struct TopicState {
  struct Message {
    TimePoint sent;
    TimePoint sampled;
  };
  // The data that messages carry for one step of a chain.
  struct Hop {
    Position* from = nullptr;
    Position* to = nullptr;
    std::vector<TimePoint> origins;  // by slot
  };

  // Adds a message. `writer`: the task whose job ends, for all callbacks of its join; null: an
  // external writer.
  void publish(const TaskState* writer, TimePoint sent, TimePoint sampled) noexcept;

  // A reader takes the messages [first, end) of the series: chains see the newest.
  void hand_over(const TaskState& reader, std::uint64_t first, std::uint64_t end) noexcept;

  [[nodiscard]] std::uint64_t oldest() const noexcept {
    return published > messages.size() ? published - messages.size() : 0;
  }
  [[nodiscard]] const Message& message(std::uint64_t number) const noexcept {
    return messages[number % messages.size()];
  }

  sched::Topic shared;  // the part that age limits use
  std::vector<Message> messages;
  std::uint64_t published = 0;
  std::vector<Hop> hops;
  std::deque<Triggered> triggered;
  nanoseconds publish_cost{0};
  nanoseconds deliver_cost{0};
  nanoseconds external_period{0};
  nanoseconds external_jitter{0};
  std::uint64_t external_messages = 0;  // up to now
};

// A topic as one task reads it.
struct Input {
  TopicState* topic = nullptr;
  std::uint64_t next = 0;  // the first message that it has not read

  // How many messages KEEP_LAST has overwritten since the last read.
  std::uint64_t drop() noexcept;
};

// A server that a job calls, or a device that it occupies; both null: it waits for a time there.
struct Called {
  TaskState* server = nullptr;
  application::Handover way = {};  // of the response
  TimePoint* free_at = nullptr;    // the device: when it has served all requests so far
};

struct TaskState : sched::CoreTask {
  TaskState(TaskIndex task_index, const sched::Task& task, const application::Callback& described,
            const Options& options);
  // A runner of a reentrant task, which counts what it does.
  TaskState(TaskState& reentrant, const sched::Task& task, const Options& options);

  // How long the job computes, without messages and overheads. A scenario that declares another
  // execution time scales all of them in proportion. At least a nanosecond, so that time advances.
  [[nodiscard]] nanoseconds execution(const Job& of) const noexcept {
    if (!callback->segments.empty()) {
      return segments_from(0, of);
    }
    nanoseconds time = drawn ? quantile(callback->execution.quantiles, times.at(of.index)) : worst;
    if (of.expected_execution != declared && declared.count() > 0) [[unlikely]] {
      time = scaled(time, of.expected_execution, declared);
    }
    return std::max(time, nanoseconds{1});
  }
  // How late a release is noticed. In the worst case only the first one is late, because then
  // releases are densest.
  [[nodiscard]] nanoseconds jitter(std::uint64_t release) const noexcept {
    if (draws_jitter) {
      return callback->least_jitter +
             uniform(noticing.at(release), callback->jitter - callback->least_jitter);
    }
    return release == 0 ? callback->jitter : callback->least_jitter;
  }
  // The most times that a job waits.
  [[nodiscard]] std::int64_t most_waits() const noexcept {
    return callback->task.waits ? std::max<std::int64_t>(callback->suspensions, 1) : 0;
  }
  // How long one part of a job takes, of those that are declared. All times of computing are longer
  // or shorter together, so that their sum is that of `execution`; waits are drawn one by one.
  [[nodiscard]] nanoseconds segment(std::size_t number, const Job& of) const noexcept;
  // How long it computes from this one on.
  [[nodiscard]] nanoseconds segments_from(std::size_t number, const Job& of) const noexcept;
  // The next one in which the started job waits.
  [[nodiscard]] std::size_t next_wait() const noexcept {
    return 2 * static_cast<std::size_t>(most_waits() - waits) + 1;
  }
  // How long a job computes before its next wait, of what it still has to. In the worst case for as
  // long before and after each wait.
  [[nodiscard]] nanoseconds before_wait(nanoseconds time) const noexcept {
    if (!callback->segments.empty()) {
      return std::max(time - segments_from(next_wait() + 1, job), nanoseconds{0});
    }
    return draws_jitter ? uniform(waiting.at(2 * wait_number()), time - nanoseconds{1})
                        : time / (waits + 1);
  }
  // How long a job waits, of what it still may. In the worst case as long as allowed in all, and
  // each time as long.
  [[nodiscard]] nanoseconds wait_time() const noexcept {
    if (!callback->segments.empty()) {
      return segment(next_wait(), job);
    }
    return draws_jitter ? uniform(waiting.at(2 * wait_number() + 1), may_wait) : may_wait / waits;
  }
  // The call in which it waits next; null: it waits for a time.
  [[nodiscard]] const Called* next_call() const noexcept {
    return calls.empty() || calls[next_wait() / 2].server == nullptr ? nullptr
                                                                     : &calls[next_wait() / 2];
  }
  // The device that it waits for next; null: none.
  [[nodiscard]] TimePoint* next_device() const noexcept {
    return calls.empty() ? nullptr : calls[next_wait() / 2].free_at;
  }
  // How long the response is on its way, in the worst case as long as it may be.
  [[nodiscard]] nanoseconds way_back() const noexcept {
    const application::Handover& way = called->way;
    return draws_jitter ? way.least + uniform(waiting.at(wait_number() - 1), way.most - way.least)
                        : way.most;
  }
  // Of its next wait, among those of all jobs.
  [[nodiscard]] std::uint64_t wait_number() const noexcept {
    const auto most = static_cast<std::uint64_t>(most_waits());
    return job.index * most + (most - static_cast<std::uint64_t>(waits));
  }

  // How late it begins to compute on its core. In the worst case as late as declared.
  [[nodiscard]] nanoseconds begin_late(nanoseconds latency) const noexcept {
    return draws_jitter ? uniform(beginning.at(job.index), latency) : latency;
  }

  // Where a job that computes for so long takes and leaves its locks, and waits in between.
  void find_steps(nanoseconds computing, const Job& of) noexcept;

  // How many messages a job publishes on its n-th topic. In the worst case the most.
  [[nodiscard]] std::int64_t messages_on(std::size_t n, const Job& of) const noexcept {
    const application::MessageCount& count = counts[n];
    const std::uint64_t number = of.index * counts.size() + n;
    return draws_jitter
               ? count.least +
                     uniform(publishing.at(number), nanoseconds{count.most - count.least}).count()
               : count.most;
  }
  // After how much of a job that computes for so long its messages come, where they may come
  // anywhere. In the worst case at once: so they wait longest for those that they release.
  [[nodiscard]] nanoseconds publishes_after(nanoseconds computing, const Job& of) const noexcept {
    constexpr nanoseconds tick{1};
    return draws_jitter ? tick + uniform(placing.at(of.index), computing - tick) : tick;
  }
  // What these messages cost.
  [[nodiscard]] nanoseconds publish_cost(const Job& of) const noexcept {
    nanoseconds cost{0};
    if (callback->in_thread) {
      return cost;
    }
    for (std::size_t i = 0; i < writes.size(); ++i) {
      cost = os::add_sat(cost, os::mul_sat(writes[i]->publish_cost, messages_on(i, of)));
    }
    return cost;
  }

  [[nodiscard]] bool is_timer() const noexcept { return kind == sched::TaskKind::timer; }

  // Chains know a reentrant task, not its runners: each keeps whose data its job has until that
  // writes or ends.
  void keep_origins() noexcept {
    for (std::size_t i = 0; i < origins.size(); ++i) {
      origins[i] = first_lane->positions[i]->origin;
    }
  }
  void restore_origins() noexcept {
    for (std::size_t i = 0; i < origins.size(); ++i) {
      first_lane->positions[i]->origin = origins[i];
    }
  }

  const bool drawn;  // its execution times
  const bool draws_jitter;
  bool plain = true;           // neither reads nor writes, and is not part of a chain
  bool empty = false;          // the message that released the running job was overwritten
  bool by_own_core = false;    // a job of its own core published its last message
  bool releases_here = false;  // its messages release tasks of its own core
  Partition* partition = nullptr;
  const application::Callback* callback;
  nanoseconds worst;
  nanoseconds declared;          // expected execution time, independent of scenarios
  std::vector<Input> inputs;     // delivered before the callback
  std::optional<Input> trigger;  // message tasks
  TaskState* first_lane = this;  // whose trigger all lanes of the callback read
  std::vector<TopicState*> writes;
  std::vector<application::MessageCount> counts;  // of one job on each of these topics
  sched::Join* join = nullptr;                    // with which it publishes; null: alone
  std::size_t input = 0;                          // its number there
  std::vector<Called> calls;                      // by wait; empty: no calls, no devices
  const Called* called = nullptr;  // for whose response the started job waits, or waited last
  // Whose requests it has not answered, in their order; null: who does not wait.
  std::vector<TaskState*> clients;
  nanoseconds cost_of_calls{0};  // of one job
  std::vector<Position*> positions;
  std::vector<ChainState*> ends;   // chains of which it is the last callback
  std::vector<TimePoint> origins;  // of a runner: at the positions of its task, of its started job
  TimePoint sampled;               // the data of its started job
  // Of its started job.
  Job job;
  nanoseconds computes{0};       // in all, without overheads of the executor
  nanoseconds left{0};           // until it ends or waits, while it does not have the core
  nanoseconds until_message{0};  // the same until it publishes, before its end; 0: it does not
  bool published = false;        // its messages, although it has not ended
  bool finished = false;         // it only has to end
  nanoseconds after{0};          // what it computes after its next wait
  std::int64_t waits = 0;        // how often it will wait
  nanoseconds may_wait{0};       // in these waits
  std::span<const application::LockStep> steps;  // by its time of computing; empty: no locks
  std::size_t step = 0;                          // the next one
  bool waits_for_lock = false;                   // it needs it to continue
  std::uint64_t request = 0;  // for a lock across cores that it holds without spinning; 0: none
  nanoseconds until_end{0};   // all of that time
  std::vector<nanoseconds> waits_after;  // after which times of computing it waits
  TimePoint wakes = TimePoint::max();    // while it waits
  RandomStream times;
  RandomStream noticing;
  RandomStream waiting;
  RandomStream beginning;
  RandomStream publishing;
  RandomStream placing;
  RandomStream holding;
  application::LockPlan plan;
  CallbackMetrics own_metrics;
  CallbackMetrics& metrics;  // its own, or those of the task that it runs for

 private:
  TaskState(TaskIndex task_index, const sched::Task& task, const application::Callback& described,
            const Options& options, CallbackMetrics& counted);
};

// A lock across cores, which jobs get in the order of their requests.
struct LockAcross {
  TaskState* holder = nullptr;
  std::vector<TaskState*> waiting = {};
  bool spins = true;  // who waits keeps its core
};

class Model {
 public:
  // Throws sched::ScheduleError for an application that an executor refuses, and for a chain whose
  // callbacks do not read what the previous ones write. Both must outlive the model.
  Model(const application::Application& application, const Options& options);

  [[nodiscard]] const sched::CompiledApplication& compiled() const noexcept { return *compiled_; }
  // What decides about the jobs of one process; empty if there is one.
  [[nodiscard]] const std::vector<std::unique_ptr<sched::CompiledApplication>>& processes()
      const noexcept {
    return processes_;
  }
  [[nodiscard]] std::deque<TaskState>& tasks() noexcept { return tasks_; }
  // By task, the number of its group; 0: none.
  [[nodiscard]] std::vector<std::uint32_t> groups() const {
    std::vector<std::uint32_t> groups;
    groups.reserve(tasks_.size());
    for (const TaskState& task : tasks_) {
      groups.push_back(task.group);
    }
    return groups;
  }
  [[nodiscard]] std::span<sched::CoreTask* const> by_index() const noexcept { return by_index_; }
  [[nodiscard]] std::deque<TopicState>& topics() noexcept { return topics_; }
  [[nodiscard]] std::deque<ChainState>& chains() noexcept { return chains_; }
  // Null: the lock does not go across cores.
  [[nodiscard]] LockAcross* lock_across(std::size_t lock) noexcept {
    return application::goes_across_cores(application_->locks[lock].protocol) ? &across_[lock]
                                                                              : nullptr;
  }
  // The number of a request, ascending, from 1 on.
  [[nodiscard]] std::uint64_t next_request() noexcept { return ++requests_; }
  [[nodiscard]] const application::Application& application() const noexcept {
    return *application_;
  }
  [[nodiscard]] const Options& options() const noexcept { return *options_; }

 private:
  TopicState& topic(const std::string& name);
  std::unique_ptr<sched::CompiledApplication> compile_cores(sched::CompiledStrategy strategy);
  void connect(TaskState& state, const sched::Task& task);
  void connect_writes(TaskState& state, const sched::Task& task);
  void add_runners(TaskState& state, const sched::Task& task);
  void connect_services();
  [[nodiscard]] application::Handover way_between(const TaskState& from, const TaskState& to) const;
  void add_chain(const application::Chain& chain, bool with_percentiles);

  const application::Application* application_;
  const Options* options_;
  std::deque<TopicState> topics_;
  std::deque<sched::Join> joins_;
  std::vector<TimePoint> devices_;  // when each has served all requests so far
  std::unique_ptr<sched::CompiledApplication> compiled_;
  std::vector<std::unique_ptr<sched::CompiledApplication>> processes_;
  std::deque<TaskState> tasks_;
  std::deque<TaskState> runners_;
  std::vector<sched::CoreTask*> by_index_;
  std::deque<ChainState> chains_;
  std::vector<LockAcross> across_;  // by lock
  std::uint64_t requests_ = 0;
};

}  // namespace takt::sim
