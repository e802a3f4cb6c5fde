// SPDX-License-Identifier: Apache-2.0
//
// The tasks of the executor below, held to the entities that the nodes have: what has come is
// added, what has gone is taken out, in one change; in two where one takes another's place.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "entities.hpp"
#include "message_sources.hpp"
#include "source.hpp"
#include "takt/executor/executor.hpp"
#include "takt/rclcpp/scheduling_executor.hpp"

namespace takt::rclcpp {

class Tasks {
 public:
  // What the policies of all scenarios allow and ask for.
  struct Needs {
    bool own_threads = false;  // callbacks may have threads of their own
    bool periods = false;      // also of what nobody knows a period of

    bool operator==(const Needs&) const = default;
  };
  Tasks(const Options& options, TimingRule rule, Needs needs, std::shared_ptr<Bell> bell);

  // For what the middleware did not tell of. From the same thread.
  void look_again();

  enum class Which : std::uint8_t {
    of_authors,  // without housekeeping, which is nine of ten of a plain node's entities
    all,
  };
  // From one thread at a time. Returns whether something was left out. Throws
  // sched::ScheduleError, and nothing has changed.
  bool follow(const std::vector<Entity>& entities, Which which, executor::Executor& core);

  // Whether the last jobs of all that was taken out have ended.
  [[nodiscard]] bool is_settled();

  struct Task {
    const void* key = nullptr;
    std::weak_ptr<const void> entity;
    std::shared_ptr<Source> source;
    std::string name;
    std::uint64_t seen = 0;       // the last round
    std::uint64_t looked_at = 0;  // how often it had run then
    os::TimePoint runs_since = {};
  };
  [[nodiscard]] std::unordered_map<const void*, Task>& present() noexcept { return present_; }

 private:
  [[nodiscard]] Task make(const Entity& entity, const EntityPointer& locked,
                          executor::Executor& core);
  [[nodiscard]] sched::Task describe(const CallbackId& id, const Timing& timing,
                                     const Entity& entity, const EntityPointer& locked) const;
  [[nodiscard]] executor::Binding bind(const Task& task, const std::vector<Task>& added) const;
  [[nodiscard]] std::vector<std::shared_ptr<const Running>> members_of(const Group& group) const;
  // What a change did to the names, in case it is refused.
  struct Renamed {
    std::vector<std::string> freed;
    std::vector<std::string> given;
  };
  void replace(const std::vector<const Entity*>& come, executor::Executor& core, Renamed& renamed);

  const Options& options_;
  const TimingRule rule_;
  const Needs needs_;
  const std::shared_ptr<Bell> bell_;
  std::unordered_map<const void*, Task> present_;
  std::uint64_t round_ = 0;
  std::set<std::string> names_;
  std::unordered_set<std::string> declared_;  // topics, to the executor below
  std::vector<executor::Change> under_way_;
};

}  // namespace takt::rclcpp
