// SPDX-License-Identifier: Apache-2.0
//
// An application as one of rclcpp's executors sees it. Nobody delivers data before a callback reads
// it: each topic that a callback reads has a subscription of its own, which waits for its turn like
// any other callback and keeps the message for the reader. Nobody keeps maximum ages either, and
// messages are all taken. Under executors with several threads each callback has its callback
// group.
#pragma once

#include "takt/application/application.hpp"

namespace takt::application {

// Whether its executor, or that of one of its processes, is one of rclcpp's.
bool has_stock_executor(const Application& application);

// With these subscriptions, named "node.callback.topic", behind the callbacks of the application,
// and in its chains. An application of Takt's executor remains as it is.
Application with_own_subscriptions(Application application);

// Throws sched::ScheduleError for what an executor of rclcpp does not have: several cores where it
// has one thread, scenarios, callbacks that let others run while they wait.
void check_stock_executor(const Application& application);

}  // namespace takt::application
