// SPDX-License-Identifier: Apache-2.0
//
// What tests of the executor need: running one for a number of jobs, work, traces in files that go
// away. Nothing compares times with the wall clock.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <takt/os/clock.hpp>
#include <takt/os/thread.hpp>
#include <takt/rcl/scheduling_executor.hpp>
#include <thread>
#include <vector>

#include "support.hpp"

namespace takt::test {

inline ExecutorOptions quiet(PolicyPtr policy = fixed_priority()) {
  return {.policy = std::move(policy), .on_not_granted = [](const auto&) {}};
}

inline void burn(std::chrono::nanoseconds time) {
  const auto end = os::now() + time;
  while (os::now() < end) {
  }
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

// Why real-time priorities cannot be had here; empty when they can.
inline std::string no_real_time() {
  std::string reason;
  std::thread{[&] {
    const auto not_granted = os::apply({.policy = os::SchedulingPolicy::fifo, .priority = 1});
    if (!not_granted.empty()) reason = not_granted.front().why;
  }}.join();
  return reason;
}

class TemporaryFile {
 public:
  TemporaryFile() {
    std::string name = (std::filesystem::temp_directory_path() / "takt_rcl_XXXXXX").string();
    const int file = mkstemp(name.data());
    EXPECT_GE(file, 0);
    close(file);
    path_ = name;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

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
