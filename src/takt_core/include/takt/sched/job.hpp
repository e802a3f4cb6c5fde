// SPDX-License-Identifier: Apache-2.0
//
// A job is one execution of a task: what a policy sees of it, and nothing else. It is small and
// trivially copyable, because ready queues hold it by value.
#pragma once

#include <cstdint>

#include "takt/os/clock.hpp"
#include "takt/sched/task.hpp"

namespace takt::sched {

using os::TimePoint;

struct Job {
  TaskIndex task = 0;
  int priority = 0;                   // 1..98, 98 highest
  std::uint64_t index = 0;            // counts the releases of its task from 0
  TimePoint release = {};             // intended release, not the time at which it was noticed
  TimePoint deadline = {};            // absolute
  nanoseconds period{0};              // of its task, under the parameters at its release
  nanoseconds expected_execution{0};  // 0: unknown
  std::int64_t value = 0;             // of a message's arrival: what came with it
};

}  // namespace takt::sched
