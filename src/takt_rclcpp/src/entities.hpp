// SPDX-License-Identifier: Apache-2.0
//
// What the nodes of an executor have to run: every entity of every callback group, with the node
// and group that it belongs to.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <rclcpp/callback_group.hpp>
#include <rclcpp/client.hpp>
#include <rclcpp/node_interfaces/node_base_interface.hpp>
#include <rclcpp/service.hpp>
#include <rclcpp/subscription_base.hpp>
#include <rclcpp/timer.hpp>
#include <rclcpp/waitable.hpp>
#include <string>
#include <variant>
#include <vector>

#include "source.hpp"

namespace takt::rclcpp {

struct Entity {
  std::variant<::rclcpp::TimerBase::SharedPtr, ::rclcpp::SubscriptionBase::SharedPtr,
               ::rclcpp::ServiceBase::SharedPtr, ::rclcpp::ClientBase::SharedPtr,
               ::rclcpp::Waitable::SharedPtr>
      entity;
  CallbackId id;  // without its ordinal
  std::shared_ptr<Group> group;

  // The same as long as the entity lives.
  [[nodiscard]] std::shared_ptr<const void> key() const;
};

// Nodes and groups as they were added: a group does not know its node.
class Nodes {
 public:
  using NodeBase = ::rclcpp::node_interfaces::NodeBaseInterface;

  // From any thread.
  void add(const NodeBase::SharedPtr& node);

  // Of these groups, in the order of their making. From one thread at a time.
  [[nodiscard]] std::vector<Entity> collect(
      const std::vector<::rclcpp::CallbackGroup::WeakPtr>& groups);

 private:
  struct Known {
    std::weak_ptr<::rclcpp::CallbackGroup> group = {};
    std::shared_ptr<Group> exclusion = {};
    std::string node = {};
    std::size_t ordinal = 0;
  };

  void meet_groups();
  Known& known(const ::rclcpp::CallbackGroup::SharedPtr& group, const NodeBase* node);

  std::mutex mutex_;
  std::vector<NodeBase::WeakPtr> nodes_;
  std::map<const ::rclcpp::CallbackGroup*, Known> groups_;
  std::map<std::string, std::size_t> met_of_node_;
};

}  // namespace takt::rclcpp
