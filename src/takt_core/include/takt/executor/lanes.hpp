// SPDX-License-Identifier: Apache-2.0
//
// The back end for fixed priorities. A lane holds the releases of one priority; the threads, as
// many as there are lanes, belong to all of them. A thread runs each job at the job's own
// SCHED_FIFO priority, which it gives itself before the callback, and takes one job after the other
// from the highest lane that comes before the jobs that it preempted. So releases that coincide
// cost one wake-up, however many priorities they have (a leader with followers: Schmidt et al.
// 2000), and still the kernel preempts; nobody dispatches.
//
// While a job runs, another thread watches: it sleeps, at the highest priority in use, until the
// next release of the lanes above that job, takes what is released and runs it at its priority.
// Nothing that runs is disturbed for a release of its own priority or a lower one.
//
// The watch needs no wake-up of its own as a rule: a thread that goes to sleep while another one is
// up for the next release sleeps until the release after it, and watches from then on.
//
// Jobs of one lane run in the order of their releases, then of their tasks. Exclusive groups: a job
// runs at the ceiling of its group (immediate priority ceiling), and what is not above the ceiling
// does not start, whether there are real-time priorities to be had or not.
//
// A callback that waits (for a device, another process) keeps its place: lanes below it are served
// when it goes on and ends, as by every executor with one thread a core.
//
// A single lane for one task is the back end for SCHED_DEADLINE.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
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
    return kernel_deadline_ ? os::min_priority : target_->scenario->parameters(task).priority;
  }
  void retarget() noexcept override;
  void wake_for(const TaskState& task) noexcept override;

 private:
  struct Lane {
    int priority;
    TimePoint next;  // the calendar's, where a search over all lanes finds it
    std::unique_ptr<Calendar> calendar;
  };

  struct Worker {
    explicit Worker(std::size_t worker_number) : number(worker_number) {}

    std::size_t number;
    bool real_time = false;  // may give itself priorities
    int priority = 0;        // its present one; its own to look at
    os::Event ready;         // the thread has its settings
    os::Event event;
    trace::Recorder recorder;
    std::unique_ptr<os::Thread> thread;
  };

  // When a worker looks at the lanes by itself.
  struct Watch {
    TimePoint until = TimePoint::min();  // min: awake, or woken already
    bool busy = false;                   // runs a job: not before it ended
  };

  // A job that has started and not ended.
  struct Started {
    std::size_t worker;
    TaskIndex task;
    int priority;  // that it runs at
  };

  void add_lane(int priority, const Target* target);
  void add_worker(int priority, const Target* target);
  [[nodiscard]] Lane* lane_of(const TaskState& task) noexcept;
  void run(Worker& me, const Target* asked) noexcept;
  void ask_kernel(const Target& target);
  // The highest lane whose time has come, above all started jobs; null: none.
  [[nodiscard]] Lane* due(TimePoint now) noexcept;
  void run_first(Worker& me, Lane& lane, std::unique_lock<PriorityMutex>& lock,
                 TimePoint& now) noexcept;
  void sleep(Worker& me, std::unique_lock<PriorityMutex>& lock, TimePoint& now) noexcept;
  static void take_priority(Worker& me, int priority) noexcept;
  void publish(Worker* standby, int above) noexcept;
  [[nodiscard]] int ceiling(TaskIndex task) const noexcept;
  [[nodiscard]] int threshold() const noexcept;
  [[nodiscard]] TimePoint next_above(int priority) const noexcept;
  [[nodiscard]] TimePoint wake_time(const Worker& me) const noexcept;
  [[nodiscard]] Worker& watcher_besides(const Worker& me) const noexcept;

  int cpu_ = -1;
  std::optional<TaskIndex> kernel_deadline_;
  std::vector<std::unique_ptr<Worker>>
      workers_;  // the owner; only the thread that adds looks at it
  // Guarded by the mutex.
  int top_ = 0;                                          // the highest priority in use
  std::vector<Lane> lanes_;                              // the highest first
  std::array<std::uint8_t, os::max_priority + 1> at_{};  // of each priority in lanes_, plus 1
  std::vector<Watch> watches_;                           // of the workers
  std::vector<Started> started_;                         // in the order of their starts
  std::chrono::nanoseconds shortest_period_{0};          // of the timers here, in this scenario

  // Whom to wake; read by any thread.
  std::array<std::atomic<Worker*>, os::max_priority + 1> by_number_{};
  std::atomic<Worker*> standby_{nullptr};  // null: what runs is at the top
  std::atomic<int> above_{0};              // arrivals up to this priority need not wake anybody
};

}  // namespace takt::executor
