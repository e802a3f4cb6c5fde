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
#include <utility>
#include <vector>

#include "core_names.hpp"
#include "entities.hpp"
#include "housekeeping.hpp"
#include "message_sources.hpp"
#include "source.hpp"
#include "takt/executor/executor.hpp"
#include "takt/rclcpp/scheduling_executor.hpp"

namespace takt_rclcpp {

class Tasks {
 public:
  // What the policies of all scenarios allow and ask for.
  struct Needs {
    bool own_threads = false;  // callbacks may have threads of their own
    bool periods = false;      // also of what nobody knows a period of
    bool lanes = false;  // no scenario speaks of callbacks: several jobs of one may run at once

    bool operator==(const Needs&) const = default;
  };
  // `asked`: held while what is asked for is written, present() and is_settled().
  Tasks(const Options& options, TimingRule rule, Needs needs, std::shared_ptr<Bell> bell,
        executor::PriorityMutex& asked);

  // For what the middleware did not tell of. From the same thread.
  void look_again();

  enum class Which : std::uint8_t {
    of_authors,  // without housekeeping, which is nine of ten of a plain node's entities
    all,
  };
  // What becomes of a timing that does not fit a node.
  enum class Fault : std::uint8_t {
    ends,       // sched::ScheduleError is thrown, and nothing has changed
    is_of_node  // the others run on: what has come of that node is left out
  };
  // From one thread at a time. Returns whether something was left out for `which`.
  bool follow(const std::vector<Entity>& entities, Which which, Fault fault,
              executor::Executor& core);
  // Takes out what is not among them, and adds nothing. While nothing runs, from one thread at a
  // time: when it returns, nothing refers to what has gone. Throws what the executor below does.
  void forget_gone(const std::vector<Entity>& entities, executor::Executor& core);
  // What the user should know since the last call, a sentence each: what was left out as a fault.
  [[nodiscard]] std::vector<std::string> take_remarks() { return std::exchange(remarks_, {}); }
  // Whatever is not among them is not listened to any more: another executor may. It is taken out
  // by the next follow().
  void let_go(const std::vector<Entity>& entities);

  // Whether the last jobs of all that was taken out have ended. Under the mutex.
  [[nodiscard]] bool is_settled();

  struct Task {
    const void* key = nullptr;
    std::weak_ptr<const void> entity;
    std::shared_ptr<Source> source;
    std::string name;
    std::shared_ptr<Housekeeping> housekeeping = {};  // null: it is of an entity
    std::uint64_t round = 0;                          // the last round
    std::uint64_t looked_at = 0;                      // how often it had run then
    os::TimePoint runs_since = {};
    std::vector<std::string> reads = {};            // topics
    std::vector<std::string> not_read = {};         // of which it has nothing, a sentence each
    std::vector<std::shared_ptr<Lane>> lanes = {};  // the second one and those after it

    // The name of its task and of those of its lanes.
    template <class Act>
    void each_name(Act act) const {
      act(name);
      for (const std::shared_ptr<Lane>& lane : lanes) {
        act(lane->describe().name);
      }
    }
  };
  [[nodiscard]] std::unordered_map<const void*, Task>& present() noexcept { return present_; }

 private:
  // In making.cpp.
  [[nodiscard]] CallbackId identify(const Entity& entity, const EntityPointer& locked);
  void free_name(const std::string& name) noexcept;
  [[nodiscard]] Task make(const CallbackId& id, const Timing& timing, const Entity& entity,
                          const EntityPointer& locked, executor::Executor& core);
  // `timer`: null for all others.
  // How many jobs of it may run at once.
  [[nodiscard]] std::size_t lanes_of(const CallbackId& id, const sched::Task& task,
                                     const Group& group) const;
  [[nodiscard]] sched::Task describe(const CallbackId& id, const Timing& timing, const Group& group,
                                     rclcpp::TimerBase* timer) const;
  void declare(const std::string& topic, executor::Executor& core);
  [[nodiscard]] static std::unique_ptr<Arriving> listen_to(const EntityPointer& locked);

  // In parts.cpp: entities that are a part of their group's housekeeping.
  struct Part {
    std::weak_ptr<const void> entity = {};
    std::shared_ptr<Housekeeping> of = {};
    const void* group = nullptr;
    std::string name = {};  // by which the timing was asked of it
    std::uint64_t round = 0;
  };
  struct Joining {
    const Entity* entity;
    EntityPointer locked;
    std::string name;
  };
  // Unless the timing says something of it.
  [[nodiscard]] static bool is_part(const CallbackId& id, const Timing& timing);
  // Whether it has a task, or is a part, as before.
  bool see(const Entity& entity);
  // Whether it is one, and is there as before.
  bool see_part(const Entity& entity);
  void forget_parts();
  void keep_housekeeping(const std::vector<const Entity*>& come);
  void join(const Joining& joining, std::vector<Task>& added, executor::Executor& core);
  void leave(const void* key) noexcept;
  // In reads.cpp.
  [[nodiscard]] executor::Binding bind(Task& task, const std::vector<Task>& added,
                                       Fault fault) const;
  void renew_readers(const std::vector<Entity>& entities, std::vector<const Entity*>& come);
  // What a change did to the names, in case it is refused.
  struct Renamed {
    std::vector<std::string> freed;
    std::vector<std::string> given;
    std::vector<const void*> joined;
  };
  [[nodiscard]] bool is_refused(const Entity& entity);
  void replace_by_node(const std::vector<const Entity*>& come, executor::Executor& core);
  void replace(const std::vector<const Entity*>& come, Fault fault, executor::Executor& core);
  void replace(const std::vector<const Entity*>& come, Fault fault, executor::Executor& core,
               Renamed& renamed);
  // What was not seen in this round has gone, and these have come.
  void write(const executor::Change& change, std::vector<Task> added);

  const Options& options_;
  const TimingRule rule_;
  const Needs needs_;
  const std::shared_ptr<Bell> bell_;
  executor::PriorityMutex& asked_;
  std::unordered_map<const void*, Task> present_;  // by entities; housekeeping by its group
  std::unordered_map<const void*, Part> parts_;    // by entities
  std::uint64_t round_ = 0;
  std::set<std::string> names_;
  std::unordered_set<std::string> declared_;  // topics, to the executor below
  std::vector<executor::Change> under_way_;
  std::unordered_map<const void*, std::weak_ptr<const void>> left_out_;  // by their keys
  std::vector<std::string> remarks_;
  // Of callbacks that are equal otherwise, by the name of the first: below it none is free. Without
  // it, each of a thousand would ask for the names of all before it.
  std::unordered_map<std::string, std::size_t> ordinals_;
};

}  // namespace takt_rclcpp
