// SPDX-License-Identifier: Apache-2.0
//
// The values that a timing file is made of. All of them throw sched::ScheduleError for what is
// none.
#pragma once

#include <yaml-cpp/yaml.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "timing_document.hpp"

namespace takt_rclcpp {

class Values : public Place {
 public:
  using Place::Place;

  // A table of these keys, each at most once.
  void expect_map(const YAML::Node& node, std::initializer_list<std::string_view> keys) const;
  // Empty where there is nothing.
  [[nodiscard]] std::vector<YAML::Node> list(const YAML::Node& node) const;
  // Not empty.
  [[nodiscard]] std::string text(const YAML::Node& node) const;
  [[nodiscard]] std::int64_t integer(const YAML::Node& node, std::int64_t least,
                                     std::int64_t most) const;
  [[nodiscard]] bool truth(const YAML::Node& node) const;
  // At least 1 ns, at most sched::longest_time.
  [[nodiscard]] std::chrono::nanoseconds duration(const YAML::Node& node) const;

  // As much of a word as a line of a terminal has room for.
  [[nodiscard]] static std::string quoted(const std::string& word);
};

}  // namespace takt_rclcpp
