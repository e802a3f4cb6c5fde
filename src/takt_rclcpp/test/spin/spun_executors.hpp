// SPDX-License-Identifier: Apache-2.0
//
// The executors of rclcpp, and two of a program of its own, by name.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <rclcpp/rclcpp.hpp>
#include <string>
#if __has_include(<rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>)
#include <rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>
#define HAS_CBG
#endif
#if __has_include(<rclcpp/executors/static_single_threaded_executor.hpp>)
#include <rclcpp/executors/static_single_threaded_executor.hpp>
#define HAS_STATIC
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

class Derived : public rclcpp::executors::SingleThreadedExecutor {};

class Own : public rclcpp::Executor {
 public:
  void spin() override {
    for (ends_ = false; rclcpp::ok() && !ends_;) {
      spin_once(std::chrono::milliseconds{10});
    }
  }
  void cancel() override { ends_ = true; }

 private:
  std::atomic<bool> ends_{false};
};

inline std::shared_ptr<rclcpp::Executor> make_executor(const std::string& name) {
  if (name == "multi") {
    return std::make_shared<rclcpp::executors::MultiThreadedExecutor>(rclcpp::ExecutorOptions{}, 2);
  }
  if (name == "events") {
    return std::make_shared<rclcpp::experimental::executors::EventsExecutor>();
  }
#ifdef HAS_CBG
  if (name == "cbg") {
    return std::make_shared<rclcpp::executors::EventsCBGExecutor>(rclcpp::ExecutorOptions{}, 2);
  }
#endif
#ifdef HAS_STATIC
  if (name == "static") {
    return std::make_shared<rclcpp::executors::StaticSingleThreadedExecutor>();
  }
#endif
  if (name == "derived") {
    return std::make_shared<Derived>();
  }
  if (name == "own") {
    return std::make_shared<Own>();
  }
  return std::make_shared<rclcpp::executors::SingleThreadedExecutor>();
}
