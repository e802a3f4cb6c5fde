// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <takt/executor/report.hpp>
#include <takt/os/clock.hpp>
#include <takt/rcl/diagnostic_array.hpp>
#include <takt/rcl/diagnostics.hpp>

namespace takt {

using diagnostic_msgs::msg::DiagnosticArray;

class Diagnostics::Implementation {
 public:
  Implementation(const Node& node, SchedulingExecutor& executor, std::chrono::nanoseconds period)
      : name_{node.get_fully_qualified_name()},
        executor_{executor},
        publisher_{node.create_publisher<DiagnosticArray>("/diagnostics", QoS{10})},
        reports_{period, [this] { publish(); }} {}

 private:
  void publish() {
    // A report that cannot be sent is followed by the next one.
    static_cast<void>(publisher_->publish(diagnostic_array(
        name_, reporter_.report(executor::snapshot(executor_.core(), executor_.tasks())))));
  }

  const std::string name_;
  SchedulingExecutor& executor_;
  const std::shared_ptr<Publisher<DiagnosticArray>> publisher_;
  executor::Reporter reporter_;
  executor::Reports reports_;  // last: it uses all of the above
};

Diagnostics::Diagnostics(const Node& node, SchedulingExecutor& executor,
                         const DiagnosticsOptions& options) {
  if (executor.core().start_time() == os::TimePoint{}) {
    throw std::logic_error{"diagnostics of an executor that has not been started; call start()"};
  }
  implementation_ = std::make_unique<Implementation>(node, executor, options.period);
}

Diagnostics::~Diagnostics() = default;

}  // namespace takt
