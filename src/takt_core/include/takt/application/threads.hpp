// SPDX-License-Identifier: Apache-2.0
/// @file
/// The threads of processes beside their executors, as analysis and simulation see them: each is a
/// process of its own, and so is each core of an executor with several threads. A thread is one
/// whose executor takes what arrives in its order. So it is above and below others on its core as
/// they are, and what it hands to its process is a message between processes that takes no time.
///
/// A thread that receives a topic has a callback for it, which publishes what it took on a topic of
/// its own; the callbacks of its process read that one. A driver has a timer.
#pragma once

#include "takt/application/application.hpp"
#include "takt/visibility.hpp"

namespace takt::application {

/// The application with its threads, and with each core of an executor, as processes, and with the
/// callbacks of threads in chains.
/// @throws sched::ScheduleError for threads that do nothing, or what cannot be.
TAKT_CORE_PUBLIC Application with_threads(Application application);

/// The application with its drivers alone as processes: what an execution runs itself. The threads
/// that receive stay in theirs, for there the middleware has them.
/// @throws sched::ScheduleError as with_threads() does.
TAKT_CORE_PUBLIC Application with_drivers(Application application);

}  // namespace takt::application
