// SPDX-License-Identifier: Apache-2.0
/// @file
/// A job is one execution of a task: exactly the data that a policy may use. It is small and
/// trivially copyable, because ready queues store it by value.
#pragma once

#include <cstdint>

#include "takt/os/clock.hpp"
#include "takt/sched/task.hpp"

namespace takt::sched {

using os::TimePoint;

/// One execution of a task.
struct Job {
  TaskIndex task = 0;                 ///< Its task.
  int priority = 0;                   ///< 1..98, 98 highest.
  std::uint64_t index = 0;            ///< Counts the releases of its task from 0.
  TimePoint release = {};             ///< Intended release, not the time at which it was noticed.
  TimePoint deadline = {};            ///< Absolute; TimePoint::max(): none.
  nanoseconds period{0};              ///< Period of its task at its release; 0: none.
  nanoseconds expected_execution{0};  ///< Declared worst case; 0: unknown.
  std::int64_t value = 0;  ///< Message tasks: the value that was announced with the message.
};

}  // namespace takt::sched
