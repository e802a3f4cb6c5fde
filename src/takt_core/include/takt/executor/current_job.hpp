// SPDX-License-Identifier: Apache-2.0
//
// Which job runs here, for what a callback calls and does not hand its job on to.
#pragma once

#include "takt/sched/job.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

// The job that the calling thread runs; null outside of callbacks.
TAKT_CORE_PUBLIC const sched::Job* current_job() noexcept;

}  // namespace takt::executor
