// SPDX-License-Identifier: Apache-2.0
//
// Scenarios in few words, and a node that shows whether its timer runs.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "support.hpp"
#include "takt/sched/policies.hpp"

namespace takt::test {

using sched::ScenarioPtr;
using sched::TaskChange;
using takt_rclcpp::SchedulingScenario;
using takt_rclcpp::SchedulingStrategy;

inline ScenarioPtr scenario(const std::string& name, const std::vector<TaskChange>& changes,
                            const sched::PolicyPtr& policy = nullptr) {
  auto created = std::make_shared<SchedulingScenario>(name);
  for (const TaskChange& change : changes) {
    created->add_task(change);
  }
  if (policy) {
    created->set_scheduling_policy(policy);
  }
  return created;
}

inline SchedulingStrategy strategy(const std::vector<ScenarioPtr>& scenarios) {
  SchedulingStrategy created;
  for (const ScenarioPtr& one : scenarios) {
    created.add_scenario(one);
  }
  return created;
}

// A node with a timer that counts.
struct Counting {
  explicit Counting(const std::string& name)
      : node{std::make_shared<rclcpp::Node>(name)},
        timer{node->create_wall_timer(2ms, [this] { ++runs; })} {}
  [[nodiscard]] bool goes_on() const {
    const int before = runs;
    return eventually([&] { return runs > before + 2; });
  }
  const rclcpp::Node::SharedPtr node;
  std::atomic<int> runs{0};
  const rclcpp::TimerBase::SharedPtr timer;
};

// The other one ran often, and this one not at all, since the switch was followed.
inline bool rests(const Counting& resting, const Counting& other) {
  EXPECT_TRUE(other.goes_on());
  const int before = resting.runs;
  EXPECT_TRUE(other.goes_on());
  return resting.runs == before;
}

}  // namespace takt::test
