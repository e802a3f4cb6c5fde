// SPDX-License-Identifier: Apache-2.0
//
// What a SchedulingExecutor knows about its tasks beyond the executor below: which timer or
// subscription each is, and which subscriptions it has claimed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <takt/executor/executor.hpp>
#include <takt/executor/job_source.hpp>
#include <takt/executor/mutex.hpp>
#include <takt/rcl/scheduling_executor.hpp>
#include <vector>

namespace takt {

// The task as the options describe it, without what only timers or only subscriptions have.
[[nodiscard]] sched::Task describe(const std::string& default_name, sched::TaskKind kind,
                                   const TaskOptions& options);

[[nodiscard]] std::vector<executor::BoundInput> inputs_of(const TaskOptions& options);

// "/scan" for "scan".
[[nodiscard]] std::string full_topic(const std::string& topic);

// The same strategy with "/scan" wherever a scenario says "scan".
[[nodiscard]] SchedulingStrategy with_full_topics(const SchedulingStrategy& strategy);

class SchedulingExecutor::Tasks {
 public:
  // Set-up, from any thread and callback.
  TaskIndex add(executor::Executor& core, const std::shared_ptr<TaskSource>& source,
                executor::Binding binding);
  executor::Change remove(executor::Executor& core, std::string_view name);
  // It holds nothing any more.
  void forget(TaskSource& source) noexcept;

  // The task that is being added has this index: it may run, and handlers be called for it, before
  // the executor below has told add().
  void meet(TaskIndex task) noexcept;

  [[nodiscard]] bool has(const void* entity) const;
  [[nodiscard]] std::vector<NamedTask> present() const;
  [[nodiscard]] TaskIndex index_of(std::string_view name) const;
  [[nodiscard]] const std::string& name_of(TaskIndex task) const;

  executor::Handlers handlers;

 private:
  void refuse_second_task(const TaskSource& added) const;
  void refuse_delivery_outside_of_groups(const TaskSource& added) const;
  void use_all(TaskSource& added);
  void use(const std::shared_ptr<SubscriptionBase>& subscription);
  void disuse(const std::shared_ptr<SubscriptionBase>& subscription) noexcept;

  // Held while tasks are added; nobody waits for a callback meanwhile.
  executor::PriorityMutex changing_;
  // Guards the next two; held briefly, because handlers ask for names.
  mutable executor::PriorityMutex mutex_;
  std::map<TaskIndex, TaskSource*>
      added_;                    // those that are being removed, too, until they have gone
  TaskSource* coming_{nullptr};  // being added, until its index is known
  // Apart, because the middleware takes its time; guards what is below.
  executor::PriorityMutex users_mutex_;
  std::map<std::shared_ptr<SubscriptionBase>, int> users_;
};

// What one task runs, and what it holds of its entities as long as a job of it may run.
class SchedulingExecutor::TaskSource : public executor::JobSource {
 public:
  TaskSource(Tasks& tasks, sched::Task description, const TaskOptions& options,
             std::shared_ptr<Timer> released_by, std::shared_ptr<SubscriptionBase> fed_by);
  ~TaskSource() override { tasks_.forget(*this); }
  TaskSource(const TaskSource&) = delete;
  TaskSource& operator=(const TaskSource&) = delete;
  TaskSource(TaskSource&&) = delete;
  TaskSource& operator=(TaskSource&&) = delete;

  [[nodiscard]] sched::Task describe() const override { return task; }
  executor::Outcome run(const Job& job) override;
  void arm(const executor::ReleaseHandle& release) override;
  void disarm() noexcept override;

  const sched::Task task;
  const std::shared_ptr<Timer> timer;  // one of the two
  const std::shared_ptr<SubscriptionBase> subscription;
  std::vector<std::shared_ptr<SubscriptionBase>> reads;
  // What of them has been claimed.
  bool holds_timer{false};
  std::vector<std::shared_ptr<SubscriptionBase>> holds;
  bool goes{false};  // is being removed

 private:
  Tasks& tasks_;
  std::vector<std::shared_ptr<PublisherBase>> writes_;
};

}  // namespace takt
