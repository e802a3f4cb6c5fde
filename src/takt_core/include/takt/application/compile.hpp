// SPDX-License-Identifier: Apache-2.0
/// @file
/// Compiles a described application into the tables that analysis, simulator and executor share.
#pragma once

#include "takt/application/application.hpp"
#include "takt/sched/compiled.hpp"
#include "takt/visibility.hpp"

namespace takt::application {

/// Compiles an application.
/// @throws sched::ScheduleError for an application that an executor refuses.
TAKT_CORE_PUBLIC sched::CompiledStrategy compile(const Application& application);

}  // namespace takt::application
