// SPDX-License-Identifier: Apache-2.0
//
// What the tests share: a context for each test, an executor that spins on a thread of its own, and
// patience. No property depends on how long anything takes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <rclcpp/rclcpp.hpp>
#include <string>

#include "takt/os/thread.hpp"
#include "takt/rclcpp/scheduling_executor.hpp"
#include "takt/testing/patience.hpp"

namespace takt::test {

using takt_rclcpp::CallbackId;
using takt_rclcpp::CallbackKind;
using takt_rclcpp::SchedulingExecutor;
using takt_rclcpp::Timing;

inline std::string unique(const std::string& name) {
  return name + "_" + std::to_string(getpid());
}

// On one core, where nobody runs beside anybody.
inline takt_rclcpp::Options quiet() {
  takt_rclcpp::Options options;
  options.scheduling.cpus = {os::current_thread().cpus.front()};
  options.scheduling.on_not_granted = [](const auto&) {};
  return options;
}

// spin() on a thread of its own, until it goes.
class Spinning {
 public:
  explicit Spinning(SchedulingExecutor& executor)
      : executor_{executor},
        done_{std::async(std::launch::async, [&executor] { executor.spin(); })} {
    EXPECT_TRUE(eventually([&] { return executor_.is_spinning() || has_ended(); }));
  }
  ~Spinning() {
    if (done_.valid()) {
      executor_.cancel();
      done_.wait();
    }
  }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;
  Spinning(Spinning&&) = delete;
  Spinning& operator=(Spinning&&) = delete;

  [[nodiscard]] bool has_ended() const { return done_.wait_for(0s) == std::future_status::ready; }
  // Throws what left spin().
  void end() {
    executor_.cancel();
    done_.get();
  }
  // Waits for its own end.
  void get() { done_.get(); }

 private:
  SchedulingExecutor& executor_;
  std::future<void> done_;
};

class WithContext : public testing::Test {
 protected:
  void SetUp() override { rclcpp::init(0, nullptr); }
  void TearDown() override { rclcpp::shutdown(); }
};

}  // namespace takt::test
