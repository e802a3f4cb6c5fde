// SPDX-License-Identifier: Apache-2.0
//
// What the tests of several packages share: work, patience, and what the kernel grants. No property
// depends on how long anything takes.
#pragma once

#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "takt/os/clock.hpp"
#include "takt/os/thread.hpp"

namespace takt::test {

using namespace std::chrono_literals;

// For what has to come about at all, on a machine with ten times as much to do.
inline constexpr auto patience = 150s;

// Asks again until it holds; false where it does not, for the test to fail.
template <class Condition>
bool eventually(Condition holds) {
  const auto give_up = os::now() + patience;
  while (!holds()) {
    if (os::now() >= give_up) {
      return false;
    }
    os::sleep_until(os::now() + 100us);
  }
  return true;
}

// Keeps the core busy; bounded by the wall clock, so that preemption does not prolong it.
inline void burn(std::chrono::nanoseconds time) {
  const auto end = os::now() + time;
  while (os::now() < end) {
  }
}

// Why the kernel grants no SCHED_FIFO here; nothing when it does.
inline std::optional<std::string> no_fifo() {
  std::optional<std::string> reason;
  std::thread{[&] {
    const auto not_granted = os::apply({.policy = os::SchedulingPolicy::fifo, .priority = 1});
    if (!not_granted.empty()) {
      reason = not_granted.front().why;
    }
  }}.join();
  return reason;
}

// A topic that no other test program has at the time.
inline std::string unique_topic(const std::string& name) {
  return name + "_" + std::to_string(getpid());
}

}  // namespace takt::test
