// SPDX-License-Identifier: Apache-2.0
#include "takt/rclcpp/diagnostics.hpp"

#include <exception>
#include <rclcpp/logging.hpp>
#include <rclcpp/publisher.hpp>
#include <takt/executor/report.hpp>
#include <takt/rcl/diagnostic_array.hpp>

#include "core_names.hpp"

namespace takt_rclcpp {

using diagnostic_msgs::msg::DiagnosticArray;

class Diagnostics::Implementation {
 public:
  Implementation(rclcpp::Node& node, const SchedulingExecutor& executor, nanoseconds period)
      : name_{node.get_fully_qualified_name()},
        executor_{executor},
        publisher_{node.create_publisher<DiagnosticArray>("/diagnostics", 10)},
        reports_{period, [this] { publish(); }} {}

 private:
  void publish() {
    const auto now = executor_.snapshot();
    if (!now) {
      return;
    }
    try {
      publisher_->publish(takt::diagnostic_array(name_, reporter_.report(*now)));
    } catch (const std::exception& error) {  // the next one may get through
      RCLCPP_WARN_ONCE(rclcpp::get_logger("takt"), "%s: cannot publish diagnostics: %s",
                       name_.c_str(), error.what());
    }
  }

  const std::string name_;
  const SchedulingExecutor& executor_;
  const rclcpp::Publisher<DiagnosticArray>::SharedPtr publisher_;
  executor::Reporter reporter_;
  executor::Reports reports_;  // last: it uses all of the above
};

Diagnostics::Diagnostics(rclcpp::Node& node, const SchedulingExecutor& executor,
                         const DiagnosticsOptions& options)
    : implementation_{std::make_unique<Implementation>(node, executor, options.period)} {}

Diagnostics::~Diagnostics() = default;

}  // namespace takt_rclcpp
