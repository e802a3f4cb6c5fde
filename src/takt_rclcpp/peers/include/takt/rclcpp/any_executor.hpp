// SPDX-License-Identifier: Apache-2.0
//
// rclcpp's executors and Takt's by name, for what compares them: the probe of the stack rclcpp, the
// approaches of `./takt execute`, and `./takt bench rclcpp`.
#pragma once

#include <memory>
#include <rclcpp/executor.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "takt/rclcpp/scheduling_executor.hpp"

namespace takt::rclcpp {

// "single_threaded", "multi_threaded", "events", "events_cbg" where this rclcpp has it, "takt".
[[nodiscard]] const std::vector<std::string>& executor_names();

// As its authors made it, with defaults, but for the threads of those that have several
// (multi_threaded, events_cbg). `scheduling` is Takt's own. Throws std::invalid_argument with the
// names that there are; what the executor throws.
[[nodiscard]] std::unique_ptr<::rclcpp::Executor> make_executor(
    std::string_view name, Options scheduling, std::size_t threads = 2,
    const ::rclcpp::ExecutorOptions& options = ::rclcpp::ExecutorOptions{});

}  // namespace takt::rclcpp
