// SPDX-License-Identifier: Apache-2.0
/// @file
/// Attributes of a trace that describe its tasks, which no event contains: the topic that releases
/// a task, its group, its core, its declared times. `./takt model` reads them.
#pragma once

#include <string>

#include "takt/sched/compiled.hpp"
#include "takt/sched/task.hpp"
#include "takt/trace/writer.hpp"
#include "takt/visibility.hpp"

namespace takt::trace {

/// Writes the attribute `task` of one task, with its parameters in the scenario that the trace
/// begins with, and the attribute `change` for each other scenario that gives it other parameters.
/// The values are JSON in the keys of the flat form (takt/application/parse.hpp), times in
/// nanoseconds, without defaults. Of several attributes for one name the last one is valid. Throws
/// as TraceWriter does.
/// @param writer the trace.
/// @param strategy the application.
/// @param task index of the task.
/// @param scenario index of the scenario that the trace begins with.
TAKT_CORE_PUBLIC void declare_task(TraceWriter& writer, const sched::CompiledStrategy& strategy,
                                   sched::TaskIndex task, std::size_t scenario);

}  // namespace takt::trace
