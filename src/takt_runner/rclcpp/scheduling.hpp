// SPDX-License-Identifier: Apache-2.0
//
// What an application's description says of its callbacks, as Takt's executor for rclcpp nodes is
// told it: by the names that it gives them.
#pragma once

#include <optional>
#include <takt/application/application.hpp>
#include <takt/rclcpp/scheduling_executor.hpp>
#include <takt/sched/strategy.hpp>

#include "nodes.hpp"

namespace takt::runner {

[[nodiscard]] takt_rclcpp::Options scheduling_of(const application::Application& application,
                                                 const Nodes& nodes);

// None: one scenario, and all callbacks are active in it. Throws sched::ScheduleError for what
// nodes of rclcpp cannot have.
[[nodiscard]] std::optional<sched::SchedulingStrategy> strategy_of(
    const application::Application& application, const Nodes& nodes);

}  // namespace takt::runner
