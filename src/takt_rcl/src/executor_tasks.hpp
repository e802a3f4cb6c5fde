// SPDX-License-Identifier: Apache-2.0
//
// What a SchedulingExecutor knows about its tasks beyond the executor below: which timer or
// subscription each is, and which subscriptions it has claimed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <takt/executor/mutex.hpp>
#include <takt/rcl/scheduling_executor.hpp>
#include <vector>

namespace takt {

// The task as the options describe it, without what only timers or only subscriptions have.
[[nodiscard]] sched::Task describe(const std::string& default_name, sched::TaskKind kind,
                                   const TaskOptions& options);

[[nodiscard]] std::vector<executor::BoundInput> inputs_of(const TaskOptions& options);

// The same strategy with "/scan" wherever a scenario says "scan".
[[nodiscard]] SchedulingStrategy with_full_topics(const SchedulingStrategy& strategy);

class SchedulingExecutor::Tasks {
 public:
  explicit Tasks(executor::Handlers given) : handlers{std::move(given)} {}
  ~Tasks();
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;
  Tasks(Tasks&&) = delete;
  Tasks& operator=(Tasks&&) = delete;

  // What releases the task: a timer, or the messages of a subscription.
  TaskIndex add(executor::Executor& core, sched::Task task, executor::Binding binding,
                const TaskOptions& options, const std::shared_ptr<Timer>& timer,
                const std::shared_ptr<SubscriptionBase>& source);
  void remove(executor::Executor& core, std::string_view name);
  void release_subscriptions() noexcept;

  // This is the index of the task that is being added, if any is: it may run, and handlers be
  // called for it, before the executor below has told add().
  void meet(TaskIndex task) noexcept;

  [[nodiscard]] bool has(const void* entity) const;
  [[nodiscard]] std::vector<NamedTask> present() const;
  [[nodiscard]] TaskIndex index_of(std::string_view name) const;
  [[nodiscard]] const std::string& name_of(TaskIndex task) const;
  void refuse_after_start() const;

  executor::Handlers handlers;
  bool started{false};

 private:
  struct Added {
    std::string name;
    std::string group;
    std::shared_ptr<Timer> timer;
    std::shared_ptr<SubscriptionBase> source;
    std::vector<std::shared_ptr<SubscriptionBase>> reads;
    executor::ReleaseHandle release{};
  };
  // As the executor below numbers them, which uses the numbers of removed tasks again.
  using ByIndex = std::map<TaskIndex, Added>;

  [[nodiscard]] ByIndex::const_iterator find(std::string_view name) const;
  void announce_to(const Added& added);
  void refuse_second_task(const Added& added) const;
  void refuse_delivery_outside_of_groups(const Added& added) const;
  void use_all(const Added& added);
  void disuse_all(const Added& added) noexcept;
  void use(const std::shared_ptr<SubscriptionBase>& subscription);
  void disuse(const std::shared_ptr<SubscriptionBase>& subscription) noexcept;

  // Held while tasks are added and removed, which waits for callbacks. Callbacks may ask for names,
  // so what they look at has a lock of its own, held briefly.
  std::mutex changing_;
  std::map<std::shared_ptr<SubscriptionBase>, int> users_;

  mutable executor::PriorityMutex mutex_;
  ByIndex added_;
  ByIndex::node_type coming_;  // being added, until its index is known
};

}  // namespace takt
