// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which symbols the library takt_core exports. Everything else is hidden: other libraries cannot
/// link to it, calls to it need no indirection, and it may change in any version. A class with
/// functions that are not inline is exported as a whole, and so is every class that is thrown or
/// that another library derives from.

/// @namespace takt
/// Takt: measures, schedules and analyses the timing of ROS 2 systems. takt_rcl
/// declares the library for robots directly in this namespace.

/// @namespace takt::os
/// The operating system: clock, real-time threads, locked memory, events,
/// signals. Needs Linux.

/// @namespace takt::stats
/// Statistics of measured times.

/// @namespace takt::sched
/// Tasks, policies, ceilings and scenarios: the scheduling decisions that
/// executor and simulator share. Nothing in here reads a clock or starts a thread.

/// @namespace takt::executor
/// The executor: real-time threads that carry out the decisions of
/// takt::sched.

/// @namespace takt::application
/// The description of an application, which analysis, simulator and
/// executor read alike.

/// @namespace takt::analysis
/// Schedulability analysis: upper bounds on response times, latencies of
/// chains and ages of data.

/// @namespace takt::sim
/// The simulator: an application in virtual time.

/// @namespace takt::trace
/// Traces: recording, writing and reading the events of jobs, and deriving
/// timelines and flows.
#pragma once

/// Exports a class or function from takt_core.
#define TAKT_CORE_PUBLIC __attribute__((visibility("default")))

/// Hides a member of an exported class that only the library itself calls.
#define TAKT_CORE_LOCAL __attribute__((visibility("hidden")))
