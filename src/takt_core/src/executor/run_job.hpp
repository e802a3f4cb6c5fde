// SPDX-License-Identifier: Apache-2.0
//
// Runs one job: everything between its start and its end, the same in every back end.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>

#include "shared.hpp"
#include "takt/trace/recorder.hpp"

namespace takt::executor {

// The progress of the job of one thread, for watching threads. The job's thread sets `ends` before
// it reads the clocks for the end, and a watcher reads the clocks before it checks `ends`: a job
// that has not ended for the watcher ends no earlier, and has used no less, than the watcher has
// read. Once `ends` is set, only the job's own thread judges it, however long that is kept from its
// core.
class Progress {
 public:
  // Under the crew's mutex, before the job. `judged`: others may look whether it is overdue.
  void reset(bool judged) noexcept {
    judged_ = judged;
    ends_.store(false, std::memory_order_relaxed);
    cpu_before_.store(unknown, std::memory_order_relaxed);
  }
  // By the job's thread.
  void start(std::chrono::nanoseconds cpu_time) noexcept {
    cpu_before_.store(cpu_time.count(), std::memory_order_relaxed);
  }
  void end() noexcept {
    if (!judged_) {
      return;  // no watcher
    }
    ends_.store(true);
    // A processor may delay the store while it reads a clock, but not while it performs this load,
    // nor may it read the clock before (the kernel's clock functions begin with a load and a
    // branch).
    static_cast<void>(ends_.load());
  }

  // By other threads, under the mutex.
  [[nodiscard]] bool ends() const noexcept { return ends_.load(); }
  // The CPU time of the job so far, by the clock of its thread.
  [[nodiscard]] std::chrono::nanoseconds used(clockid_t clock) const noexcept;

 private:
  static constexpr std::int64_t unknown = -1;  // it has not begun

  bool judged_ = false;
  std::atomic<bool> ends_{false};
  std::atomic<std::int64_t> cpu_before_{unknown};
};

struct Ended {
  os::TimePoint time;
  std::chrono::nanoseconds used{0};  // CPU time, of tasks with a budget
};

inline constexpr os::TimePoint not_decided = os::TimePoint::min();

// Runs the job on the calling thread: delivers pending messages of the task's inputs, checks the
// age of the data, runs the callback, and counts. An exception that leaves the callback ends the
// process, or stops the executor (Options::exceptions). `decided`: when the thread read the clock
// last, if there has been nothing but the decision since; else `not_decided`. Without a trace that
// is the start: the decision is shorter than two readings.
Ended run_job(Shared& shared, TaskState& task, const Job& job, const Target& target,
              trace::Recorder& recorder, Progress& progress, os::TimePoint decided) noexcept;

}  // namespace takt::executor
