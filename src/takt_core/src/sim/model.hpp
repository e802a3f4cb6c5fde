// SPDX-License-Identifier: Apache-2.0
//
// The application while it is simulated: its tasks, the topics between them with the messages that
// wait, and its chains. Who runs when is decided in partition.hpp.
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
#include "takt/sim/simulation.hpp"

namespace takt::sim {

using os::TimePoint;
using sched::Job;
using sched::TaskIndex;

class Partition;
struct TaskState;

// A callback as one station of a chain.
struct Position {
  static constexpr TimePoint no_data = TimePoint::min();

  TaskState* task = nullptr;
  Position* before = nullptr;  // null: the first
  // The release of the chain's first callback that the present data (a running job's: its data)
  // came from.
  TimePoint origin = no_data;
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
  TimePoint last = Position::no_data;  // the newest origin that reached the end
  std::uint64_t violations = 0;
  Times latency;
  Times age;
  Times reaction;
};

// The last `depth` messages of a topic. Each reader has a position of its own in the series; what
// falls out before it was read is lost to it (KEEP_LAST).
struct TopicState {
  struct Message {
    TimePoint made;
    TimePoint sampled;
  };
  // What messages carry for one hop of a chain.
  struct Hop {
    Position* from = nullptr;
    Position* to = nullptr;
    std::vector<TimePoint> origins;  // by slot
  };

  // A message is made. `writer`: the task whose job ends; null: an external writer.
  void publish(const TaskState* writer, TimePoint made, TimePoint sampled) noexcept;

  // A reader takes the messages [first, end) of the series: chains see the newest.
  void hand_over(const TaskState& reader, std::uint64_t first, std::uint64_t end) noexcept;

  [[nodiscard]] std::uint64_t oldest() const noexcept {
    return published > messages.size() ? published - messages.size() : 0;
  }
  [[nodiscard]] const Message& message(std::uint64_t number) const noexcept {
    return messages[number % messages.size()];
  }

  sched::Topic shared;  // what age limits look at
  std::vector<Message> messages;
  std::uint64_t published = 0;
  std::vector<Hop> hops;
  std::vector<TaskState*> triggered;  // message tasks
  nanoseconds publish_cost{0};
  nanoseconds deliver_cost{0};
  nanoseconds external_period{0};
};

// A topic as one task reads it.
struct Input {
  TopicState* topic = nullptr;
  std::uint64_t next = 0;  // the first message that it has not taken

  // How many messages KEEP_LAST has dropped meanwhile.
  std::uint64_t drop() noexcept;
};

struct TaskState : sched::CoreTask {
  TaskState(TaskIndex task_index, const sched::Task& task, const application::Callback& described,
            const Options& options);

  // What the job computes, without messages and overheads. A scenario that declares another
  // execution time means that all of them change in proportion. At least a nanosecond, so that time
  // goes on.
  [[nodiscard]] nanoseconds execution(const Job& of) const noexcept {
    nanoseconds time = drawn ? quantile(callback->execution.quantiles, times.at(of.index)) : worst;
    if (of.expected_execution != declared && declared.count() > 0) [[unlikely]] {
      time = scaled(time, of.expected_execution, declared);
    }
    return std::max(time, nanoseconds{1});
  }
  // By how much a release is noticed late. In the worst case the first one, and no other: releases
  // cannot be denser.
  [[nodiscard]] nanoseconds jitter(std::uint64_t release) const noexcept {
    if (draws_jitter) {
      return uniform(noticing.at(release), callback->jitter);
    }
    return release == 0 ? callback->jitter : nanoseconds{0};
  }
  // How much of its computing a job does before it waits, and for how long. In the worst case half
  // of it, and as long as it may.
  [[nodiscard]] nanoseconds before_wait(nanoseconds time) const noexcept {
    return draws_jitter ? uniform(waiting.at(2 * job.index), time - nanoseconds{1}) : time / 2;
  }
  [[nodiscard]] nanoseconds wait_time() const noexcept {
    return draws_jitter ? uniform(waiting.at(2 * job.index + 1), callback->suspension)
                        : callback->suspension;
  }

  [[nodiscard]] bool is_timer() const noexcept { return kind == sched::TaskKind::timer; }

  const bool drawn;  // its execution times
  const bool draws_jitter;
  bool plain = true;   // neither reads nor writes, nor is part of a chain
  bool empty = false;  // the running job was released by a message that is gone
  Partition* partition = nullptr;
  const application::Callback* callback;
  nanoseconds worst;
  nanoseconds declared;          // expected execution time, whatever scenarios say
  std::vector<Input> inputs;     // delivered before the callback
  std::optional<Input> trigger;  // message tasks
  std::vector<TopicState*> writes;
  std::vector<Position*> positions;
  std::vector<ChainState*> ends;  // chains that it is the last callback of
  nanoseconds publish_cost{0};    // of one job
  TimePoint sampled;              // the data of its started job
  // Of its started job.
  Job job;
  nanoseconds computes{0};  // in all, without overheads of the executor
  nanoseconds left{0};      // until it ends or waits, while it does not have the core
  nanoseconds after{0};     // what it computes after it has waited
  bool will_wait = false;
  TimePoint wakes = TimePoint::max();  // while it waits
  RandomStream times;
  RandomStream noticing;
  RandomStream waiting;
  CallbackMetrics metrics;
};

class Model {
 public:
  // Throws sched::ScheduleError for what an executor refuses, and for a chain whose callbacks do
  // not read what the one before them writes. The application must outlive the model.
  Model(const application::Application& application, const Options& options);

  [[nodiscard]] const sched::CompiledApplication& compiled() const noexcept { return *compiled_; }
  [[nodiscard]] std::deque<TaskState>& tasks() noexcept { return tasks_; }
  [[nodiscard]] std::span<sched::CoreTask* const> by_index() const noexcept { return by_index_; }
  [[nodiscard]] std::deque<TopicState>& topics() noexcept { return topics_; }
  [[nodiscard]] std::deque<ChainState>& chains() noexcept { return chains_; }
  [[nodiscard]] const application::Application& application() const noexcept {
    return *application_;
  }

 private:
  TopicState& topic(const std::string& name);
  std::unique_ptr<sched::CompiledApplication> compile_cores();
  void connect(TaskState& state, const sched::Task& task);
  void add_chain(const application::Chain& chain, bool with_percentiles);

  const application::Application* application_;
  std::deque<TopicState> topics_;
  std::unique_ptr<sched::CompiledApplication> compiled_;
  std::deque<TaskState> tasks_;
  std::vector<sched::CoreTask*> by_index_;
  std::deque<ChainState> chains_;
};

}  // namespace takt::sim
