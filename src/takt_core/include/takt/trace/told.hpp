// SPDX-License-Identifier: Apache-2.0
//
// What an executor knows of its tasks and no event shows, as attributes of a trace: which topic
// releases a task, its group, its core, its declared times. `./takt model` reads them.
#pragma once

#include <string>

#include "takt/sched/compiled.hpp"
#include "takt/sched/task.hpp"
#include "takt/trace/writer.hpp"
#include "takt/visibility.hpp"

namespace takt::trace {

// The attribute `task` of one task, with its parameters in the scenario that the trace begins with,
// and the attribute `change` of each other scenario that gives it other ones: JSON in the keys of
// the flat form (takt/application/parse.hpp), times in ns; what has its default is left out. The
// last one of a name holds. Throws as TraceWriter.
TAKT_CORE_PUBLIC void tell_task(TraceWriter& writer, const sched::CompiledStrategy& strategy,
                                sched::TaskIndex task, std::size_t scenario);

}  // namespace takt::trace
