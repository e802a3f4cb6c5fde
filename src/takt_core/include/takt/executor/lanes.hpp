// SPDX-License-Identifier: Apache-2.0
//
// The back end for fixed priorities: one SCHED_FIFO thread, a lane, for each priority in use. Each
// lane sleeps for the next release of its own tasks, and the kernel preempts; nobody dispatches.
// Jobs of one lane run in the order of their releases, then of their tasks.
//
// Exclusive groups: before a job, its lane rises to the ceiling of the group (immediate priority
// ceiling), and takes the group's mutex besides, so that groups stay exclusive when callbacks sleep
// or when there is no real-time priority to be had. On one core with priorities nobody ever waits
// for that mutex.
//
// A single lane for one task is the back end for SCHED_DEADLINE.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "takt/executor/calendar.hpp"
#include "takt/executor/partition.hpp"
#include "takt/os/event.hpp"
#include "takt/os/thread.hpp"

namespace takt::executor {

class Lanes : public Partition {
 public:
  // Lanes on `cpu`, for the priorities of the tasks there.
  Lanes(Shared& shared, int cpu);
  // One lane under SCHED_DEADLINE for this task, which the kernel moves between the cores.
  Lanes(Shared& shared, TaskIndex kernel_deadline);
  ~Lanes() override;
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  Lanes(Lanes&&) = delete;
  Lanes& operator=(Lanes&&) = delete;

  void prepare(const Plan& plan) override;
  void wake_to_follow() noexcept override;
  void wake_to_stop() noexcept override;
  void join() override;

 protected:
  void place(TaskState& task, TimePoint time) noexcept override;
  void displace(TaskState& task) noexcept override;
  [[nodiscard]] std::int64_t wake_key(TaskIndex task) const noexcept override {
    return target_->scenario->parameters(task).priority;
  }
  void retarget() noexcept override {}
  void wake_for(const TaskState& task) noexcept override;

 private:
  struct Lane {
    Lane(std::size_t tasks, int lane_priority) : calendar(tasks), priority(lane_priority) {}

    Calendar calendar;  // guarded, as asleep_until
    int priority;
    TimePoint asleep_until = TimePoint::min();  // min: awake, or woken already
    bool real_time = false;                     // has its priority
    os::Event ready;                            // the thread has its settings
    os::Event event;
    trace::Recorder recorder;
    std::unique_ptr<os::Thread> thread;
  };

  void add_lane(int priority, const Target* target);
  [[nodiscard]] Lane* lane_of(std::int64_t priority) const noexcept {
    return by_priority_[kernel_deadline_ ? 0 : static_cast<std::size_t>(priority)].load(
        std::memory_order_acquire);
  }
  void run(Lane& lane, const Target* asked) noexcept;
  void ask_kernel(const Target& target);
  TimePoint run_exclusively(Lane& lane, TaskState& task, const Job& job,
                            const Target& target) noexcept;

  int cpu_ = -1;
  std::optional<TaskIndex> kernel_deadline_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // the owner; only the thread that adds looks at it
  std::array<std::atomic<Lane*>, os::max_priority + 1> by_priority_{};
};

}  // namespace takt::executor
