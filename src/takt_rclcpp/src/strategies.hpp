// SPDX-License-Identifier: Apache-2.0
//
// What the executor's strategy and those of its nodes say together: one set of scenarios, each with
// one policy and one entry of a callback.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core_names.hpp"
#include "takt/rclcpp/timing.hpp"
#include "takt/sched/strategy.hpp"

namespace takt_rclcpp {

class Strategies {
 public:
  // In place of what was set before, of the same. `node`: its full name; empty: the executor.
  // Throws sched::ScheduleError where they contradict each other, and nothing has changed.
  void set(const std::string& node, sched::SchedulingStrategy strategy);

  // Nothing: no strategy was set.
  [[nodiscard]] const std::optional<sched::SchedulingStrategy>& together() const noexcept {
    return together_;
  }

  // Remembers which callbacks they name have been there.
  void look(const std::function<bool(const std::string& callback)>& is_there);
  // Entries of callbacks that have not been there; `there`: the names of those that are.
  [[nodiscard]] std::vector<Unmatched> unmatched(const std::set<std::string>& there) const;

 private:
  struct OfOne {
    std::string node;
    sched::SchedulingStrategy strategy;
  };
  [[nodiscard]] static sched::SchedulingStrategy merged(const std::vector<OfOne>& all);

  std::vector<OfOne> all_;  // the executor's first, nodes in the order in which they were set
  std::optional<sched::SchedulingStrategy> together_;
  std::set<std::string> matched_;
};

}  // namespace takt_rclcpp
