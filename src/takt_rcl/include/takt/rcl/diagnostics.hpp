// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics: tells /diagnostics (diagnostic_msgs/DiagnosticArray) once a second how the tasks of
// an executor do, from a thread without real-time priority. `takt top` shows it.
//
//   executor.start();
//   const takt::Diagnostics diagnostics{node, executor};
//   executor.spin();
//
// What it tells: takt/executor/report.hpp; as which messages: diagnostic_array.hpp.
#pragma once

#include <chrono>
#include <memory>
#include <takt/rcl/node.hpp>
#include <takt/rcl/scheduling_executor.hpp>
#include <takt/rcl/visibility.hpp>

namespace takt {

struct DiagnosticsOptions {
  std::chrono::nanoseconds period{std::chrono::seconds{1}};
};

class TAKT_RCL_PUBLIC Diagnostics {
 public:
  // Starts the thread; the first report comes at once. The executor must have been started
  // (std::logic_error) and must outlive this. Throws RclError; std::system_error for no thread;
  // std::invalid_argument for a period that is not above zero.
  Diagnostics(const Node& node, SchedulingExecutor& executor,
              const DiagnosticsOptions& options = {});
  // Publishes a last report.
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
