// SPDX-License-Identifier: Apache-2.0
//
// A document that people wrote, read so that nothing in it can hurt: of bounded size, UTF-8, one
// YAML document, without anchors. What is wrong is told with file, line and fix.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <utility>

namespace takt_rclcpp {

// Where a fault is, and how to correct it.
class Place {
 public:
  explicit Place(std::string file) : file_{std::move(file)} {}

  // Throws sched::ScheduleError. Without a line: `mark` is YAML::Mark::null_mark().
  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& problem,
                           const std::string& fix) const;

 private:
  std::string file_;
};

// Throws sched::ScheduleError.
[[nodiscard]] YAML::Node load_document(const std::filesystem::path& file, const Place& place);

}  // namespace takt_rclcpp
