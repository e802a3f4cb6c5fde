// SPDX-License-Identifier: Apache-2.0
//
// What the executor knows about its application apart from the running of it: descriptions, names,
// topics, groups. Used by threads that set up, never by those that run tasks.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "takt/executor/executor.hpp"
#include "takt/executor/plan.hpp"
#include "takt/executor/task_state.hpp"
#include "takt/os/idle.hpp"

namespace takt::executor {

// Throws sched::ScheduleError for a binding that does not fit its task.
void check_binding(const sched::Task& task, const Binding& binding);

// What is left of a task that was removed, so that the others keep their indices: it is never
// released, and asks nothing of anybody.
sched::Task stub_of(const sched::Task& task, TaskIndex index, int priority);

class Executor::Registry {
 public:
  mutable std::mutex mutex;
  std::vector<sched::Task> tasks;  // as described; by index
  std::vector<std::string> external_topics;
  std::optional<sched::SchedulingStrategy> strategy;
  std::vector<std::string> scenarios{"default"};  // by index; fixed at the start
  std::vector<std::unique_ptr<Plan>> plans;       // the last one is followed
  bool started = false;
  bool stopped = false;
  os::TimePoint start_time;
  std::optional<os::NoDeepIdle> no_deep_idle;  // from the start to the stop, in real time

  Topic* topic(const std::string& name) {
    const auto [entry, is_new] = topics_by_name_.try_emplace(name, nullptr);
    if (is_new) {
      Topic& topic = topics_.emplace_back();
      topic.name = name;
      topic.id = static_cast<std::uint16_t>(topics_.size() - 1);
      entry->second = &topic;
    }
    return entry->second;
  }
  const std::deque<Topic>& topics() const noexcept { return topics_; }

 private:
  std::deque<Topic> topics_;
  std::map<std::string, Topic*> topics_by_name_;
};

}  // namespace takt::executor
