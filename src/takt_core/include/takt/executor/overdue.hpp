// SPDX-License-Identifier: Apache-2.0
//
// Telling that a job missed its deadline or used up its budget: once, by whoever finds out first,
// the job's own thread at its end or another one while it still runs. Internal to the executor.
#pragma once

#include "takt/executor/shared.hpp"
#include "takt/trace/recorder.hpp"

namespace takt::executor {

void tell_miss(const Shared& shared, TaskState& task, const Job& job, os::TimePoint time,
               bool running, trace::Recorder& recorder) noexcept;

void tell_budget_overrun(const Shared& shared, TaskState& task, const Job& job,
                         std::chrono::nanoseconds budget, std::chrono::nanoseconds used,
                         os::TimePoint time, bool running, trace::Recorder& recorder) noexcept;

}  // namespace takt::executor
