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

}  // namespace takt::executor
