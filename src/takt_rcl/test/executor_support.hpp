// SPDX-License-Identifier: Apache-2.0
//
// What tests of the executor need: running one for a number of jobs, work, traces in files that go
// away. Nothing compares times with the wall clock.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <takt/rcl/scheduling_executor.hpp>
#include <takt/testing/temporary.hpp>
#include <thread>

#include "support.hpp"

namespace takt::test {

inline ExecutorOptions quiet(PolicyPtr policy = fixed_priority()) {
  return {.policy = std::move(policy), .on_not_granted = [](const auto&) {}};
}

// A node with a topic that no other test has.
struct Robot {
  explicit Robot(const std::string& name) : topic{unique_topic(name)} {}
  Context context;
  Node node{context, "robot"};
  std::string topic;
};

// Spins on this thread until `done` holds, which is asked by another one.
template <class Predicate>
bool spin_until(SchedulingExecutor& executor, Predicate done) {
  bool held = false;
  std::thread asking{[&] {
    held = eventually(done);
    executor.request_stop();
  }};
  executor.spin();
  asking.join();
  return held;
}

// What the exception of type Error says that `function` throws; empty when it throws none.
template <class Error, class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace takt::test
