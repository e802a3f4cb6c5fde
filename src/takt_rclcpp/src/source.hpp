// SPDX-License-Identifier: Apache-2.0
//
// What the executor below runs for one entity of a node. The entity is its node's: when that lets
// go of it, jobs do nothing, until the task is taken out.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "takt/executor/job_source.hpp"
#include "takt/executor/mutex.hpp"
#include "takt/os/event.hpp"
#include "takt/rclcpp/timing.hpp"

namespace takt::rclcpp {

// Rings for the thread that spins: something has changed, or a callback threw.
class Bell {
 public:
  void ring() noexcept { event_.notify(); }
  // The first one is kept.
  void fail(std::exception_ptr error) noexcept;
  void wait_until(os::TimePoint deadline) noexcept { event_.wait_until(deadline); }
  [[nodiscard]] bool failed() const noexcept { return failed_.load(); }
  // Null: none. The next one is kept then.
  [[nodiscard]] std::exception_ptr take_error() noexcept;

 private:
  os::ThreadEvent event_;
  std::atomic<bool> failed_{false};
  executor::PriorityMutex mutex_;
  std::exception_ptr error_;
};

// One callback group. Those of its callbacks that share a core exclude each other by their order
// (Task::group); the mutex is for those that have threads of their own, and inherits priorities.
struct Group {
  std::string name;
  bool exclusive = true;
  executor::PriorityMutex mutex;
};

// When a job began, for whoever looks for callbacks that wait; 0: none runs.
struct Running {
  std::atomic<std::int64_t> since_ns{0};
  std::atomic<int> thread{0};
};

class Source : public executor::JobSource {
 public:
  Source(CallbackId id, sched::Task task, std::shared_ptr<Group> group, std::shared_ptr<Bell> bell)
      : id_{std::move(id)},
        task_{std::move(task)},
        group_{std::move(group)},
        bell_{std::move(bell)} {}

  [[nodiscard]] sched::Task describe() const final { return task_; }
  executor::Outcome run(const sched::Job& job) final;

  [[nodiscard]] const CallbackId& id() const noexcept { return id_; }
  [[nodiscard]] const Group& group() const noexcept { return *group_; }
  [[nodiscard]] const Running& running() const noexcept { return running_; }
  // Has to be made anew: it follows another kind of clock now.
  [[nodiscard]] virtual bool is_outdated() const { return false; }
  // Set-up, again: what could not be done in the loop. From the thread that spins.
  virtual void catch_up() {}

 protected:
  virtual void work(const sched::Job& job) = 0;
  [[nodiscard]] Bell& bell() const noexcept { return *bell_; }

 private:
  const CallbackId id_;
  const sched::Task task_;
  const std::shared_ptr<Group> group_;
  const std::shared_ptr<Bell> bell_;
  Running running_;
};

}  // namespace takt::rclcpp
