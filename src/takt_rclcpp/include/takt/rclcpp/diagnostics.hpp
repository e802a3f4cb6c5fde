// SPDX-License-Identifier: Apache-2.0
/// @file
/// Publishes the statistics of an executor's callbacks on /diagnostics
/// (diagnostic_msgs/DiagnosticArray) once a second, from a thread without real-time priority.
/// `takt top` shows them.
///
/// ```cpp
/// const takt_rclcpp::Diagnostics diagnostics{*node, executor};
/// executor.spin();
/// ```
///
/// Nothing is published before the executor spins. takt/executor/report.hpp describes the contents;
/// they have the name of the node.
#pragma once

#include <chrono>
#include <memory>
#include <rclcpp/node.hpp>

#include "takt/rclcpp/scheduling_executor.hpp"
#include "takt/rclcpp/visibility.hpp"

namespace takt_rclcpp {

/// How Diagnostics publishes.
struct DiagnosticsOptions {
  std::chrono::nanoseconds period{std::chrono::seconds{1}};  ///< From one report to the next; > 0.
};

/// Publishes the state of an executor as long as it exists.
class TAKT_RCLCPP_PUBLIC Diagnostics {
 public:
  /// Creates the publisher and starts the thread.
  /// @param node has the publisher, and its name is that of the report.
  /// @param executor must outlive this object.
  /// @param options the period.
  /// @throws std::invalid_argument for a period that is not above zero.
  /// @throws std::system_error if the thread cannot be started.
  /// @throws what rclcpp::create_publisher() throws.
  Diagnostics(rclcpp::Node& node, const SchedulingExecutor& executor,
              const DiagnosticsOptions& options = {});

  /// Publishes a last report and ends the thread.
  ~Diagnostics();
  Diagnostics(const Diagnostics&) = delete;
  Diagnostics& operator=(const Diagnostics&) = delete;
  Diagnostics(Diagnostics&&) = delete;
  Diagnostics& operator=(Diagnostics&&) = delete;

 private:
  class TAKT_RCLCPP_LOCAL Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt_rclcpp
