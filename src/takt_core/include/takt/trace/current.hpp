// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lets a callback record events that only it knows, such as which message it published, among the
/// events of its own job: executors declare which job the calling thread runs, and with which
/// recorder.
#pragma once

#include <cstdint>

#include "takt/os/clock.hpp"
#include "takt/trace/recorder.hpp"
#include "takt/visibility.hpp"

namespace takt::trace {

/// Declares, as long as it exists, that the calling thread runs a job. Instances nest. For
/// executors.
class TAKT_CORE_PUBLIC CurrentJob {
 public:
  /// Begins the job. `recorder` must outlive this object and belong to the calling thread.
  CurrentJob(Recorder& recorder, std::uint32_t task, std::uint64_t job) noexcept;

  /// The outer job, if any, is the current one again.
  ~CurrentJob();
  CurrentJob(const CurrentJob&) = delete;
  CurrentJob& operator=(const CurrentJob&) = delete;
  CurrentJob(CurrentJob&&) = delete;
  CurrentJob& operator=(CurrentJob&&) = delete;

 private:
  Recorder* outer_recorder_;
  std::uint32_t outer_task_;
  std::uint64_t outer_job_;
};

/// The task whose job the calling thread runs, by its number in the trace; no_task outside of a
/// callback. Real-time safe.
TAKT_CORE_PUBLIC std::uint32_t task_of_current_job() noexcept;

/// Records an event of the job that the calling thread runs. Has no effect outside of a callback
/// and without a trace. Real-time safe.
/// @param type EventType::publish, use, lock_wait or lock.
/// @param time when it happened.
/// @param topic number of the topic (executor::Executor::trace_topic()), or of the lock.
/// @param value see EventType.
TAKT_CORE_PUBLIC void record_in_job(EventType type, os::TimePoint time, std::uint16_t topic,
                                    std::int64_t value) noexcept;

}  // namespace takt::trace
