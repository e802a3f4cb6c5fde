// SPDX-License-Identifier: Apache-2.0
//
// The threads of processes beside their executors. Each becomes a process of its own, whose
// executor takes what arrives in its order: so it is above and below others on its core as they
// are, and what it hands to its process is a message between processes that takes no time.
//
// A thread that receives a topic has a callback for it, which publishes what it took on a topic of
// its own; the callbacks of its process read that one. A driver has a timer.
#pragma once

#include <string>

#include "takt/application/application.hpp"

namespace takt::application {

// Throws sched::ScheduleError for threads that say nothing, or what cannot be.
Application with_threads(Application application);

// "process 'vision'", "thread 'vision.dds'".
std::string place_text(const Process& process);

// Whether one is a thread of the other.
bool belong_together(const Process& left, const Process& right);

}  // namespace takt::application
