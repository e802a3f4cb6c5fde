// SPDX-License-Identifier: Apache-2.0
//
// What an executor of an application decides by: the same tables for the analysis, the simulator
// and the executor itself.
#pragma once

#include "takt/application/application.hpp"
#include "takt/sched/compiled.hpp"
#include "takt/visibility.hpp"

namespace takt::application {

// Throws sched::ScheduleError for an application that an executor refuses.
TAKT_CORE_PUBLIC sched::CompiledStrategy compile(const Application& application);

}  // namespace takt::application
