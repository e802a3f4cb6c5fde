// SPDX-License-Identifier: Apache-2.0
//
// NodeHandle: owns the rcl_node_t that all copies of a Node and its entities share.
#pragma once

#include <rcl/node.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <takt/rcl/subscription_base.hpp>
#include <takt/rcl/timer.hpp>
#include <vector>

#include "context_handle.hpp"

namespace takt::detail {

struct NodeHandle {
  NodeHandle(std::shared_ptr<ContextHandle> context, const std::string& name,
             const std::string& name_space);
  ~NodeHandle();
  NodeHandle(const NodeHandle&) = delete;
  NodeHandle& operator=(const NodeHandle&) = delete;

  // "topic 'scan', node '/radar'", for errors.
  [[nodiscard]] std::string describe_topic(const std::string& topic) const;

  // Names of tasks: "robot/guard.timer1", "robot/guard.scan", "robot/guard.scan2". That of a
  // subscription is free for another one when it is forgotten.
  [[nodiscard]] std::string name_of_timer();
  [[nodiscard]] std::string name_of_topic(const std::string& full_topic);
  void forget_subscription(const std::string& name) noexcept;

  std::shared_ptr<ContextHandle> context;
  rcl_node_t node;
  std::mutex mutex;  // rcl's creating and destroying of entities is not thread-safe per node
  bool uses_sim_time{false};

  // In the order of their creation; guarded.
  std::mutex entities_mutex;
  std::vector<std::weak_ptr<Timer>> timers;
  std::vector<std::weak_ptr<SubscriptionBase>> subscriptions;

 private:
  int timers_created_{0};
  std::set<std::string> names_;  // of subscriptions
};

}  // namespace takt::detail
