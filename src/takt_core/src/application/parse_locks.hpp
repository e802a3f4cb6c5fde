// SPDX-License-Identifier: Apache-2.0
//
// The locks of an application and the sections of its callbacks that hold them.
#pragma once

#include <string>
#include <vector>

#include "object.hpp"
#include "takt/application/application.hpp"

namespace takt::application {

// One entry of "locks". Throws ParseError.
Lock parse_lock(const Json& json, const std::string& path);

// The "critical_sections" of a callback, in the order of CriticalSection::enclosing. Throws
// ParseError, also for a lock that is not among `locks`.
void parse_critical_sections(Object& object, const std::vector<Lock>& locks, Callback& callback);

// Throws sched::ScheduleError, with all of them, for sections that overlap or go on after the worst
// case, for locks that are taken in a circle, and for whatever is not analysed together with locks.
void check_locks(const Application& application);

}  // namespace takt::application
