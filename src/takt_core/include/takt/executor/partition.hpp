// SPDX-License-Identifier: Apache-2.0
//
// The tasks of one core and the threads that run them. Two back ends derive from it: Lanes (fixed
// priorities, kernel deadlines) and Stack (dynamic priorities, non-preemptive). What they share is
// here: releases, arrivals, scenario switches, data ages. All of it happens under the partition's
// mutex, in the threads of the partition, between two jobs.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "takt/executor/mutex.hpp"
#include "takt/executor/shared.hpp"
#include "takt/trace/recorder.hpp"

namespace takt::executor {

class Partition {
 public:
  explicit Partition(Shared& shared) : shared_(shared) {}
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;
  Partition(Partition&&) = delete;
  Partition& operator=(Partition&&) = delete;
  virtual ~Partition() = default;

  // Starts the threads that this plan needs and that are not there yet; they sleep until begin().
  virtual void prepare(const Plan& plan) = 0;

  // Releases tasks from `origin` on.
  void begin(TimePoint origin);

  // From any thread, without locks: there are arrivals for the task, or its data is wanted.
  void announce(TaskState& task) noexcept;

  // From any thread, without locks: there is another target; the executor stops. Threads of this
  // partition need not call the first: they look at the target after the job that they run.
  virtual void wake_to_follow() noexcept = 0;
  virtual void wake_to_stop() noexcept = 0;

  // Whether the plan is followed and no job of an earlier plan is left.
  bool follows(const Plan& plan) noexcept;

  // Whether the calling thread is one of this partition's.
  [[nodiscard]] bool is_current() const noexcept { return current() == this; }
  static const Partition* current() noexcept;
  [[nodiscard]] bool belongs_to(const Shared& shared) const noexcept { return &shared_ == &shared; }

  virtual void join() = 0;

 protected:
  // For each thread of the partition, before its loop.
  void enter_thread();
  [[nodiscard]] bool stopping() const noexcept {
    return shared_.stopping.load(std::memory_order_acquire);
  }

  // True when there is something that a decision must look at first.
  [[nodiscard]] bool news() const noexcept {
    return announced_.load() != nullptr || (target_ != nullptr && shared_.target() != target_);
  }

  // The rest needs the mutex. Takes up announcements and the present target.
  void catch_up(trace::Recorder& recorder) noexcept;

  // The task's time in the calendar has come: makes its job. Nothing when there is no reason for
  // one after all.
  std::optional<Job> release(TaskState& task, TimePoint now, trace::Recorder& recorder) noexcept;

  // A job has ended: what becomes of the releases that came meanwhile. Lets go of the mutex while
  // it calls the handler for those that were dropped.
  void finish(std::unique_lock<PriorityMutex>& lock, TaskState& task, TimePoint ended,
              trace::Recorder& recorder) noexcept;

  // Wakes whoever would run the task. From any thread, without the mutex.
  virtual void wake_for(const TaskState& task) noexcept = 0;

  // Puts the task into the calendar at this time, or changes its time; takes it out.
  virtual void place(TaskState& task, TimePoint time) noexcept = 0;
  virtual void displace(TaskState& task) noexcept = 0;
  // What wake_for() shall find in TaskState::wake_key.
  [[nodiscard]] virtual std::int64_t wake_key(TaskIndex task) const noexcept = 0;
  // `target_` has changed; the tasks follow right after.
  virtual void retarget() noexcept = 0;

  TaskState& task(TaskIndex index) noexcept { return *shared_.tasks[index]; }

  Shared& shared_;
  PriorityMutex mutex_;
  const Target* target_ = nullptr;

 private:
  void follow(const Target& target, TimePoint time, trace::Recorder& recorder) noexcept;
  void reschedule(TaskState& task) noexcept;
  void request_data(const TaskState& reader, TimePoint release) noexcept;
  bool release_early(TaskState& source, TimePoint now, Job& job,
                     trace::Recorder& recorder) noexcept;
  static void count_skipped(TaskState& task, const Skipped& skipped,
                            trace::Recorder& recorder) noexcept;

  std::atomic<TaskState*> announced_{nullptr};
  std::size_t followed_ = 0;  // tasks of the plan that is followed
};

}  // namespace takt::executor
