// SPDX-License-Identifier: Apache-2.0
#include "takt/rclcpp/any_executor.hpp"

#include <map>
#include <rclcpp/executors/multi_threaded_executor.hpp>
#include <rclcpp/executors/single_threaded_executor.hpp>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

#if __has_include(<rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>)
#include <rclcpp/executors/events_cbg_executor/events_cbg_executor.hpp>
#define TAKT_RCLCPP_HAS_EVENTS_CBG 1
#endif

namespace takt_rclcpp {
namespace {

using Executor = rclcpp::Executor;
using rclcpp::ExecutorOptions;
using Make = std::unique_ptr<Executor> (*)(Options, std::size_t, const ExecutorOptions&);

// Since rclcpp 32 its options come first.
template <class Events>
std::unique_ptr<Executor> make_events(const ExecutorOptions& options) {
  if constexpr (std::is_constructible_v<Events, const ExecutorOptions&>) {
    return std::make_unique<Events>(options);
  } else {
    using Queue = rclcpp::experimental::executors::SimpleEventsQueue;
    return std::make_unique<Events>(std::make_unique<Queue>(), false, options);
  }
}

const std::vector<std::pair<std::string, Make>>& known() {
  using rclcpp::executors::MultiThreadedExecutor;
  using rclcpp::executors::SingleThreadedExecutor;
  using rclcpp::experimental::executors::EventsExecutor;
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
         return make_events<EventsExecutor>(options);
       }},
#ifdef TAKT_RCLCPP_HAS_EVENTS_CBG
      {"events_cbg",
       [](Options, std::size_t threads,
          const ExecutorOptions& options) -> std::unique_ptr<Executor> {
         return std::make_unique<rclcpp::executors::EventsCBGExecutor>(options, threads);
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

}  // namespace takt_rclcpp
