// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics: tells /diagnostics (diagnostic_msgs/DiagnosticArray) once a second how the tasks of
// an executor do, from a thread without real-time priority. `takt top` shows it.
//
//   executor.start();
//   const takt::Diagnostics diagnostics{node, executor};
//   executor.spin();
//
// One status for the executor, "<node>: executor", and one for each task, "<node>: <task>", all
// with the hardware_id "takt". Counts are since the start, times the worst since the start.
//
//   executor   tasks, scenario, lost_trace_events, shortfall (one for each setting not obtained)
//   task       releases, completed, skipped, lost_arrivals, early_releases, deadline_misses,
//              budget_overruns, age_violations, delivered, worst_response_us, worst_lateness_us,
//              worst_age_us, worst_cpu_time_us (of tasks with a budget)
//
// The level is about the time since the report before: ERROR where a deadline was missed or data
// was too old, WARN where releases were skipped, messages lost or a budget overrun, else OK. The
// executor is at WARN as long as it lacks real-time settings or trace events.
#pragma once

#include <chrono>
#include <memory>
#include <takt/rcl/node.hpp>
#include <takt/rcl/scheduling_executor.hpp>

namespace takt {

struct DiagnosticsOptions {
  std::chrono::nanoseconds period{std::chrono::seconds{1}};
};

class Diagnostics {
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
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt
