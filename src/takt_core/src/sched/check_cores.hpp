// SPDX-License-Identifier: Apache-2.0
/// @file
/// Refuses a list of cores that no executor can have.
#pragma once

#include <span>
#include <string_view>

namespace takt::sched {

/// @param where what names the cores, for the message.
/// @param cpus the cores that one executor uses.
/// @throws ScheduleError if `cpus` is empty, or contains a negative number or a core twice.
void check_cores(std::string_view where, std::span<const int> cpus);

}  // namespace takt::sched
