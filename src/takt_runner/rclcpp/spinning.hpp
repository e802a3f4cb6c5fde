// SPDX-License-Identifier: Apache-2.0
//
// An executor of rclcpp that spins in a thread of its own, in a context that no signal ends.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <rclcpp/rclcpp.hpp>
#include <takt/os/clock.hpp>
#include <takt/os/stop.hpp>
#include <takt/os/thread.hpp>

namespace takt::runner {

struct InContext {
  InContext() {
    rclcpp::init(0, nullptr, rclcpp::InitOptions{}, rclcpp::SignalHandlerOptions::None);
  }
  ~InContext() { rclcpp::shutdown(); }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  InContext(InContext&&) = delete;
  InContext& operator=(InContext&&) = delete;
};

class Spinning {
 public:
  // `first`: in its thread, before it spins.
  Spinning(
      rclcpp::Executor& executor, const os::ThreadSettings& settings, os::StopFlag& stop,
      const std::function<void()>& first = [] {})
      : executor_{executor}, thread_{settings, [this, &stop, first] {
                                       try {
                                         first();
                                         executor_.spin();
                                       } catch (...) {
                                         failure_ = std::current_exception();
                                         stop.request();
                                       }
                                       ended_.store(true);
                                     }} {}
  ~Spinning() { join(); }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;
  Spinning(Spinning&&) = delete;
  Spinning& operator=(Spinning&&) = delete;

  [[nodiscard]] pid_t tid() const noexcept { return thread_.tid(); }

  // Throws what left a callback.
  void end() {
    join();
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  void join() noexcept {
    if (!thread_.joinable()) {
      return;
    }
    while (!ended_.load()) {  // one that has not begun to spin yet forgets a cancel()
      executor_.cancel();
      os::sleep_until(os::now() + std::chrono::milliseconds{1});
    }
    thread_.join();
  }

  rclcpp::Executor& executor_;
  std::exception_ptr failure_;  // written before ended_
  std::atomic<bool> ended_{false};
  os::Thread thread_;
};

}  // namespace takt::runner
