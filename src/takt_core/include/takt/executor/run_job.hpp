// SPDX-License-Identifier: Apache-2.0
//
// Running one job: what happens between its start and its end, the same in every back end.
// Internal to the executor.
#pragma once

#include "takt/executor/shared.hpp"
#include "takt/trace/recorder.hpp"

namespace takt::executor {

// Starts the job on the calling thread: delivers what is pending on the task's inputs, checks the
// age of the data, runs the callback, counts, and calls the handlers. Returns when it ended. An
// exception that leaves the callback ends the process, or stops the executor (Options::exceptions).
os::TimePoint run_job(Shared& shared, TaskState& task, const Job& job, const Target& target,
                      trace::Recorder& recorder) noexcept;

// The job that the calling thread runs; null outside of callbacks.
const Job* current_job() noexcept;

}  // namespace takt::executor
