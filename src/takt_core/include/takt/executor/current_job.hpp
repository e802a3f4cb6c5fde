// SPDX-License-Identifier: Apache-2.0
/// @file
/// The job that the calling thread runs, for functions that a callback calls without passing its
/// job on.
#pragma once

#include "takt/sched/job.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

/// The job that the calling thread runs; null outside of callbacks. Valid until the callback
/// returns.
TAKT_CORE_PUBLIC const sched::Job* current_job() noexcept;

/// Says that the job which the calling thread runs does not complete, although its callback will
/// return: what it waited for will never come, because all is being stopped. Its trace has no end
/// of it, and it counts neither as completed nor in worst responses. Has no effect outside of
/// callbacks. Real-time safe.
TAKT_CORE_PUBLIC void leave_job_unfinished() noexcept;

}  // namespace takt::executor
