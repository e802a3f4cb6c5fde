// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics: tells /diagnostics (diagnostic_msgs/DiagnosticArray) once a second how the callbacks
// of an executor do, from a thread without real-time priority. `takt top` shows it.
//
//   const takt::rclcpp::Diagnostics diagnostics{*node, executor};
//   executor.spin();
//
// Nothing is told before the executor spins. What it tells: takt/executor/report.hpp, under the
// name of the node.
#pragma once

#include <chrono>
#include <memory>
#include <rclcpp/node.hpp>

#include "takt/rclcpp/scheduling_executor.hpp"
#include "takt/rclcpp/visibility.hpp"

namespace takt::rclcpp {

struct DiagnosticsOptions {
  std::chrono::nanoseconds period{std::chrono::seconds{1}};
};

class TAKT_RCLCPP_PUBLIC Diagnostics {
 public:
  // Starts the thread. The executor must outlive this. Throws std::system_error for no thread;
  // std::invalid_argument for a period that is not above zero; what create_publisher() throws.
  Diagnostics(::rclcpp::Node& node, const SchedulingExecutor& executor,
              const DiagnosticsOptions& options = {});
  // Publishes a last report.
  ~Diagnostics();
  Diagnostics(const Diagnostics&) = delete;
  Diagnostics& operator=(const Diagnostics&) = delete;
  Diagnostics(Diagnostics&&) = delete;
  Diagnostics& operator=(Diagnostics&&) = delete;

 private:
  class TAKT_RCLCPP_LOCAL Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt::rclcpp
