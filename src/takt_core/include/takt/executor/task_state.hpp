// SPDX-License-Identifier: Apache-2.0
//
// One task while the executor lives: what it does, its releases, its counters. Its address never
// changes, so that other threads can announce arrivals to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/executor/counters.hpp"
#include "takt/executor/options.hpp"
#include "takt/executor/releases.hpp"
#include "takt/sched/task.hpp"

namespace takt::executor {

class Partition;
struct Target;

// When the newest data of a topic was sampled: the release of the timer job at the head of the
// chain that produced it.
struct Topic {
  std::string name;
  std::uint16_t id = 0;
  std::atomic<std::int64_t> sampled{no_sample};  // nanoseconds of CLOCK_MONOTONIC

  static constexpr std::int64_t no_sample = INT64_MIN;
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): that of Arrivals
struct TaskState {
  TaskState(TaskIndex task_index, const sched::Task& task, Binding task_binding)
      : index(task_index),
        name(task.name),
        kind(task.kind),
        binding(std::move(task_binding)),
        messages(task.kind == sched::TaskKind::message ? binding.queue : 0) {}

  const TaskIndex index;
  const std::string name;
  const sched::TaskKind kind;
  Binding binding;
  std::vector<Topic*> input_topics;            // of binding.inputs
  std::vector<Topic*> writes;                  // in whatever scenario
  Topic* trigger = nullptr;                    // of message tasks
  std::atomic<Partition*> partition{nullptr};  // set once, at the start or when it is added

  // Guarded by the partition's mutex.
  TimerReleases timer;
  MessageReleases messages;
  bool busy = false;              // its job is ready or runs: it is not in the calendar
  const Target* under = nullptr;  // the parameters of that job
  int lane = 0;                   // fixed priority: the lane of its releases

  TaskCounters counters;

  // Where arrivals are announced to; read by any thread.
  std::atomic<std::int64_t> wake_key{0};  // what the back end finds the thread to wake by
  std::atomic<bool> announced{false};     // is in the partition's list of announcements
  TaskState* next_announced = nullptr;

  std::optional<Release> next_release() noexcept {
    return kind == sched::TaskKind::timer ? timer.next() : messages.next();
  }
};

}  // namespace takt::executor
