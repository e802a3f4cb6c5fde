// SPDX-License-Identifier: Apache-2.0
//
// Lets a callback record what only it knows, such as which message it published, among the events
// of its own job: executors say which job the calling thread runs, and with what it records.
#pragma once

#include <cstdint>

#include "takt/os/clock.hpp"
#include "takt/trace/recorder.hpp"
#include "takt/visibility.hpp"

namespace takt::trace {

// While it lives, the calling thread runs this job. Nests.
class TAKT_CORE_PUBLIC CurrentJob {
 public:
  CurrentJob(Recorder& recorder, std::uint32_t task, std::uint64_t job) noexcept;
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

// An event of the job that the calling thread runs. Nothing happens outside of a callback, and
// where nothing is traced. For EventType::publish and use; topics are numbered by the executor
// (executor::Executor::trace_topic).
TAKT_CORE_PUBLIC void record_in_job(EventType type, os::TimePoint time, std::uint16_t topic,
                                    std::int64_t value) noexcept;

}  // namespace takt::trace
