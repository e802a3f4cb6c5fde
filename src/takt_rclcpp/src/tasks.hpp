// SPDX-License-Identifier: Apache-2.0
//
// The tasks of the executor below, held to the entities that the nodes have: what has come is
// added, what has gone is taken out, in one change.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "entities.hpp"
#include "message_sources.hpp"
#include "source.hpp"
#include "takt/executor/executor.hpp"
#include "takt/rclcpp/scheduling_executor.hpp"

namespace takt::rclcpp {

class Tasks {
 public:
  // `own_threads`: callbacks may have threads of their own.
  Tasks(const Options& options, TimingRule rule, bool own_threads, std::shared_ptr<Bell> bell);

  // From one thread at a time. Throws sched::ScheduleError, and nothing has changed.
  void follow(const std::vector<Entity>& entities, executor::Executor& core);

  struct Task {
    std::weak_ptr<const void> entity;
    std::shared_ptr<Source> source;
    std::string name;
  };
  [[nodiscard]] const std::map<const void*, Task>& present() const noexcept { return present_; }

 private:
  [[nodiscard]] Task make(const Entity& entity, executor::Executor& core);
  [[nodiscard]] sched::Task describe(const CallbackId& id, const Timing& timing,
                                     const Entity& entity) const;
  [[nodiscard]] executor::Binding bind(const Task& task, const std::map<const void*, Task>& among,
                                       executor::Executor& core) const;

  const Options& options_;
  const TimingRule rule_;
  const bool own_threads_;
  const std::shared_ptr<Bell> bell_;
  std::map<const void*, Task> present_;
  std::set<std::string> names_;
};

}  // namespace takt::rclcpp
