// SPDX-License-Identifier: Apache-2.0
//
// What the tests share: work, patience, names and folders that no other test has.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <takt/os/clock.hpp>
#include <takt/os/thread.hpp>
#include <thread>

namespace takt::test {

using namespace std::chrono_literals;

// Keeps the core busy, as a computation would.
inline void burn(std::chrono::nanoseconds time) {
  const auto end = os::now() + time;
  while (os::now() < end) {
  }
}

// For what has to come about at all, on a machine with ten times as much to do.
inline constexpr auto patience = 150s;

// Asks again until it holds; no property depends on how long that takes.
template <class Predicate>
bool eventually(Predicate holds) {
  const auto deadline = os::now() + patience;
  while (!holds()) {
    if (os::now() > deadline) return false;
    os::sleep_until(os::now() + 1ms);
  }
  return true;
}

inline std::string unique_topic(const std::string& name) {
  return name + "_" + std::to_string(getpid());
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

// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() { std::filesystem::create_directory(path_); }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / unique_topic("takt_runner");
};

}  // namespace takt::test
