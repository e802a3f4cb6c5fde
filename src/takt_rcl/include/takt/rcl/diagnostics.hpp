// SPDX-License-Identifier: Apache-2.0
/// @file
/// Diagnostics: publishes the state of the tasks of an executor to /diagnostics
/// (diagnostic_msgs/DiagnosticArray) once a second, from a thread without real-time priority. `takt
/// top` displays it.
///
/// ```cpp
/// executor.start();
/// const takt::Diagnostics diagnostics{node, executor};
/// executor.spin();
/// ```
///
/// The content is described in takt/executor/report.hpp, the messages in diagnostic_array.hpp.
#pragma once

#include <chrono>
#include <memory>
#include <takt/rcl/node.hpp>
#include <takt/rcl/scheduling_executor.hpp>
#include <takt/rcl/visibility.hpp>

namespace takt {

/// The settings of Diagnostics.
struct DiagnosticsOptions {
  /// Time between two reports; above zero.
  std::chrono::nanoseconds period{std::chrono::seconds{1}};
};

/// Publishes reports as long as it exists.
class TAKT_RCL_PUBLIC Diagnostics {
 public:
  /// Starts the thread; the first report is published at once.
  /// @param node publishes the reports.
  /// @param executor must be started, and must outlive this object.
  /// @param options the period.
  /// @throws std::logic_error if the executor is not started.
  /// @throws std::invalid_argument if the period is not above zero.
  /// @throws std::system_error if the thread cannot be created.
  /// @throws RclError if the publisher cannot be created.
  Diagnostics(const Node& node, SchedulingExecutor& executor,
              const DiagnosticsOptions& options = {});

  /// Publishes a last report.
  ~Diagnostics();
  Diagnostics(const Diagnostics&) = delete;
  Diagnostics& operator=(const Diagnostics&) = delete;
  Diagnostics(Diagnostics&&) = delete;
  Diagnostics& operator=(Diagnostics&&) = delete;

 private:
  class TAKT_RCL_LOCAL Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt
