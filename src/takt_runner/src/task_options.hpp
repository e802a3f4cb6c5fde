// SPDX-License-Identifier: Apache-2.0
//
// A callback as a task of Takt's executor.
#pragma once

#include <takt/rcl/task_options.hpp>

#include "members.hpp"

namespace takt::runner {

TaskOptions options_of(const Member& member);

}  // namespace takt::runner
