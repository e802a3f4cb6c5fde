// SPDX-License-Identifier: Apache-2.0
//
// The back end for policies whose order the kernel cannot keep: a stack of threads at rising
// real-time priorities. A job runs one level above the one that it preempts, so the kernel resumes
// the lower one by itself when it ends.
//
// The lowest free thread above the running one, the standby, sleeps until the next release. When it
// wakes, it runs the best ready job itself if that comes before the running one and passes the
// stack resource policy; no job is ever handed over to another thread. When a job ends, its thread
// takes the next one that comes before the job below, or becomes the standby.
//
// The thread above the standby sleeps until the next release, too: should the standby start a job
// until then, nobody needs to be woken to take its place. Threads above that are parked.
//
// A policy that is not preemptive never has more than one job started: the stack is one thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "takt/executor/calendar.hpp"
#include "takt/executor/partition.hpp"
#include "takt/os/event.hpp"
#include "takt/os/thread.hpp"
#include "takt/sched/ready_queue.hpp"

namespace takt::executor {

class Stack : public Partition {
 public:
  // `policy` is that of any scenario; its only use is that the ready queue needs one at all times.
  Stack(Shared& shared, int cpu, const sched::Policy& policy);
  ~Stack() override;
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  Stack(Stack&&) = delete;
  Stack& operator=(Stack&&) = delete;

  void prepare(const Plan& plan) override;
  void wake_to_follow() noexcept override;
  void wake_to_stop() noexcept override;
  void join() override;

 protected:
  void place(TaskState& task, TimePoint time) noexcept override;
  void displace(TaskState& task) noexcept override;
  [[nodiscard]] std::int64_t wake_key(TaskIndex task) const noexcept override {
    return target_->scenario->ceilings().level(task);
  }
  void retarget() noexcept override;
  void wake_for(const TaskState& task) noexcept override;

 private:
  struct Level {
    explicit Level(std::size_t level_number) : number(level_number) {}

    std::size_t number;
    TimePoint asleep_until = TimePoint::min();  // guarded; min: awake, or woken already
    os::Event ready;                            // the thread has its settings
    os::Event event;
    trace::Recorder recorder;
    std::unique_ptr<os::Thread> thread;
  };

  // A job that has started, on the thread of that level.
  struct Started {
    Job job;
    std::size_t level = 0;
    sched::Level ceiling = sched::no_ceiling;  // of its group
  };

  void add_level();
  void run(Level& level) noexcept;
  void release_due(TimePoint now, trace::Recorder& recorder) noexcept;
  // The job that is to be started now above all started ones, if any; `until`: when to look again.
  std::optional<Job> choose(TimePoint now, TimePoint& until) noexcept;
  std::optional<Job> choose_idle(TimePoint now, TimePoint& until) noexcept;
  void run_above(Level& level, const Job& job, std::unique_lock<PriorityMutex>& lock,
                 TimePoint& now) noexcept;
  void publish(std::size_t standby, sched::Level preempted_above) noexcept;
  bool wake_by(std::size_t number, TimePoint time) noexcept;
  [[nodiscard]] sched::Level preempted_above(const Job& job) const noexcept;
  [[nodiscard]] std::size_t lowest_free() const noexcept {
    return started_.empty() ? 0 : started_.back().level + 1;
  }
  [[nodiscard]] sched::Level system_ceiling() const noexcept;

  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  int cpu_;
  // Guarded by the mutex.
  Calendar calendar_;
  sched::ReadyQueue ready_;
  std::vector<Started> started_;    // by level
  std::vector<Job> next_jobs_;      // room for what Policy::decide() wants to know
  sched::Level highest_level_ = 0;  // of the tasks here, in this scenario
  std::vector<std::unique_ptr<Level>> levels_;

  // Whom to wake for arrivals; read by any thread.
  std::array<std::atomic<Level*>, os::max_priority + 1> by_number_{};
  std::atomic<std::size_t> standby_{nobody};
  std::atomic<sched::Level> preempted_above_;  // arrivals of lower levels need not wake anybody
};

}  // namespace takt::executor
