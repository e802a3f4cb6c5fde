// SPDX-License-Identifier: Apache-2.0
//
// What the executor knows about its application apart from running it: descriptions, names, topics,
// compiled applications. Used by threads that change something, never by threads that run jobs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "crew.hpp"
#include "takt/executor/executor.hpp"
#include "takt/executor/mutex.hpp"
#include "takt/os/child_cpus.hpp"
#include "takt/os/idle.hpp"

namespace takt::executor {

// Throws sched::ScheduleError for a binding that does not fit its task.
void check_binding(const sched::Task& task, const Binding& binding);

// A placeholder for a removed task, so that the others keep their indices: it is never released and
// constrains nothing.
sched::Task vacancy_of(TaskIndex index);

class Executor::Registry {
 public:
  // Arming: all threads are there, and sources are being armed; changes are made as while running.
  enum class Phase : std::uint8_t { idle, starting, arming, running, stopping };

  // A callback may change tasks, so the holder inherits the priority of the most urgent waiting
  // thread.
  mutable PriorityMutex mutex;
  std::condition_variable_any phase_changed;
  Phase phase = Phase::idle;
  std::thread::id starter;         // the thread in start(), until that has ended
  std::vector<sched::Task> tasks;  // as described; by index, placeholders included
  std::map<std::string, TaskIndex, std::less<>> by_name;
  std::map<std::string, TaskIndex, std::less<>> coming;  // tasks whose sources are being armed
  std::deque<TaskIndex> free;  // indices to reuse, the longest free one first
  std::vector<std::string> external_topics;
  std::optional<sched::SchedulingStrategy> strategy;
  std::vector<std::string> scenarios{"default"};  // by index; fixed at the start
  std::vector<std::unique_ptr<sched::CompiledApplication>>
      applications;                          // the last one is followed
  std::vector<std::unique_ptr<Crew>> crews;  // what Shared::crews points to
  std::uint64_t version = 0;                 // of the last compiled application
  std::uint64_t starts = 0;
  std::uint64_t trace_ids = 0;
  os::TimePoint start_time;
  bool has_set_off = false;                    // since this start
  std::size_t first_scenario = 0;              // that the trace begins with
  std::optional<os::NoDeepIdle> no_deep_idle;  // from the start to the stop, in real time
  std::optional<os::ChildCpus> child_cpus;     // from the start to the stop

  [[nodiscard]] TaskIndex index_of(std::string_view name) const;

  [[nodiscard]] bool is_live() const noexcept {
    return phase == Phase::arming || phase == Phase::running;
  }
  // A change waits for this, because the application that it changes is being built.
  void wait_until_built(std::unique_lock<PriorityMutex>& lock) {
    phase_changed.wait(lock, [this] { return phase != Phase::starting; });
  }

  // Callbacks may ask for topics as well, while another thread holds the mutex above.
  Topic* topic(const std::string& name);
  [[nodiscard]] std::vector<const Topic*> topics() const;

  // The number of an exclusive group, from 1. A name keeps its number as long as a task in it may
  // run.
  std::uint32_t group(const std::string& name);
  // Frees all numbers except `used`, which tasks that may run have; ascending.
  void forget_other_groups(const std::vector<std::uint32_t>& used);

 private:
  mutable PriorityMutex topics_mutex_;
  std::deque<Topic> topics_;
  std::map<std::string, Topic*> topics_by_name_;
  std::map<std::string, std::uint32_t> groups_;
  std::uint32_t last_group_ = 0;
};

}  // namespace takt::executor
