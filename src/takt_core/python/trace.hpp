// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace takt::trace {

// takt_core.EventType, Trace, Replay, Step.
void bind(nanobind::module_& module);

}  // namespace takt::trace
