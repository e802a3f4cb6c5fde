// SPDX-License-Identifier: Apache-2.0
/// @file
/// rclcpp's executors and Takt's by name, for programs that compare them: the probe of the stack
/// rclcpp, the approaches of `./takt execute`, and `./takt bench rclcpp`.
#pragma once

#include <memory>
#include <rclcpp/executor.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "takt/rclcpp/scheduling_executor.hpp"

namespace takt_rclcpp {

/// The names that make_executor() knows: "single_threaded", "multi_threaded", "events",
/// "events_cbg" if this rclcpp has it, "takt".
[[nodiscard]] const std::vector<std::string>& executor_names();

/// Creates an executor as its authors intended it, with its defaults.
/// @param name one of executor_names().
/// @param scheduling of Takt's executor; the others ignore it.
/// @param threads of multi_threaded and events_cbg; the others ignore it.
/// @param options of the base class.
/// @throws std::invalid_argument for an unknown name, with the known ones.
/// @throws what the constructor of the executor throws.
[[nodiscard]] std::unique_ptr<rclcpp::Executor> make_executor(
    std::string_view name, Options scheduling, std::size_t threads = 2,
    const rclcpp::ExecutorOptions& options = rclcpp::ExecutorOptions{});

}  // namespace takt_rclcpp
