// SPDX-License-Identifier: Apache-2.0
/// @file
/// Converts a report of an executor (takt/executor/report.hpp) into a message for /diagnostics: one
/// status for the executor, "<node>: executor", and one for each task, "<node>: <task>", all with
/// the hardware_id "takt".
#pragma once

#include <chrono>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <string>
#include <takt/executor/report.hpp>
#include <utility>
#include <vector>

namespace takt {

/// Makes the message, stamped with CLOCK_REALTIME. Allocates.
/// @param node fully qualified name of the node, the prefix of each status.
/// @param report the statuses of executor::Reporter.
inline diagnostic_msgs::msg::DiagnosticArray diagnostic_array(
    const std::string& node, std::vector<executor::Status> report) {
  diagnostic_msgs::msg::DiagnosticArray array;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(now - seconds);
  array.header.stamp.sec = static_cast<std::int32_t>(seconds.count());
  array.header.stamp.nanosec = static_cast<std::uint32_t>(rest.count());
  array.status.reserve(report.size());
  for (executor::Status& entry : report) {
    auto& status = array.status.emplace_back();
    status.level = static_cast<unsigned char>(entry.level);  // ok, warn, error: the same numbers
    status.name = node + ": " + entry.name;
    status.message = std::move(entry.message);
    status.hardware_id = "takt";
    status.values.reserve(entry.values.size());
    for (auto& [key, value] : entry.values) {
      auto& pair = status.values.emplace_back();
      pair.key = std::move(key);
      pair.value = std::move(value);
    }
  }
  return array;
}

}  // namespace takt
