// SPDX-License-Identifier: Apache-2.0
#include "takt/rclcpp/any_executor.hpp"

#include <map>
#include <rclcpp/executors/multi_threaded_executor.hpp>
#include <rclcpp/executors/single_threaded_executor.hpp>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <stdexcept>
#include <utility>

#if __has_include(<rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>)
#include <rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>
#define TAKT_RCLCPP_HAS_EVENTS_CBG 1
#endif

namespace takt::rclcpp {
namespace {

using Executor = ::rclcpp::Executor;
using ::rclcpp::ExecutorOptions;
using Make = std::unique_ptr<Executor> (*)(Options, std::size_t, const ExecutorOptions&);

const std::vector<std::pair<std::string, Make>>& known() {
  using ::rclcpp::executors::MultiThreadedExecutor;
  using ::rclcpp::executors::SingleThreadedExecutor;
  using ::rclcpp::experimental::executors::EventsExecutor;
  static const std::vector<std::pair<std::string, Make>> executors{
      {"single_threaded",
       [](Options, std::size_t, const ExecutorOptions& options) -> std::unique_ptr<Executor> {
         return std::make_unique<SingleThreadedExecutor>(options);
       }},
      {"multi_threaded",
       [](Options, std::size_t threads,
          const ExecutorOptions& options) -> std::unique_ptr<Executor> {
         return std::make_unique<MultiThreadedExecutor>(options, threads);
       }},
      {"events",
       [](Options, std::size_t, const ExecutorOptions& options) -> std::unique_ptr<Executor> {
         return std::make_unique<EventsExecutor>(
             std::make_unique<::rclcpp::experimental::executors::SimpleEventsQueue>(), false,
             options);
       }},
#ifdef TAKT_RCLCPP_HAS_EVENTS_CBG
      {"events_cbg",
       [](Options, std::size_t threads,
          const ExecutorOptions& options) -> std::unique_ptr<Executor> {
         return std::make_unique<::rclcpp::executors::EventsCBGExecutor>(options, threads);
       }},
#endif
      {"takt",
       [](Options scheduling, std::size_t,
          const ExecutorOptions& options) -> std::unique_ptr<Executor> {
         return std::make_unique<SchedulingExecutor>(std::move(scheduling), options);
       }}};
  return executors;
}

}  // namespace

const std::vector<std::string>& executor_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, make] : known()) {
      all.push_back(name);
    }
    return all;
  }();
  return names;
}

std::unique_ptr<Executor> make_executor(std::string_view name, Options scheduling,
                                        std::size_t threads, const ExecutorOptions& options) {
  std::string there;
  for (const auto& [known_name, make] : known()) {
    if (known_name == name) {
      return make(std::move(scheduling), threads, options);
    }
    there += (there.empty() ? "" : ", ") + known_name;
  }
  throw std::invalid_argument{"this rclcpp has no executor '" + std::string{name} +
                              "'; it has: " + there};
}

}  // namespace takt::rclcpp
