// SPDX-License-Identifier: Apache-2.0
//
// What the nodes of an executor have to run: every entity of every callback group, with the node
// and group that it belongs to.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <rclcpp/callback_group.hpp>
#include <rclcpp/client.hpp>
#include <rclcpp/node_interfaces/node_base_interface.hpp>
#include <rclcpp/service.hpp>
#include <rclcpp/subscription_base.hpp>
#include <rclcpp/timer.hpp>
#include <rclcpp/waitable.hpp>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core_names.hpp"
#include "source.hpp"

namespace takt_rclcpp {

using EntityPointer =
    std::variant<rclcpp::TimerBase::SharedPtr, rclcpp::SubscriptionBase::SharedPtr,
                 rclcpp::ServiceBase::SharedPtr, rclcpp::ClientBase::SharedPtr,
                 rclcpp::Waitable::SharedPtr>;

// What is asked of all of them whenever anything changes: it costs no more than a copy, and keeps
// nothing alive.
struct Entity {
  std::variant<rclcpp::TimerBase::WeakPtr, rclcpp::SubscriptionBase::WeakPtr,
               rclcpp::ServiceBase::WeakPtr, rclcpp::ClientBase::WeakPtr, rclcpp::Waitable::WeakPtr>
      entity;
  const void* key = nullptr;  // the same as long as the entity lives
  bool of_waitable = false;   // a timer that a waitable keeps for itself
  std::shared_ptr<Group> group;

  // Nothing: it has gone.
  [[nodiscard]] std::optional<EntityPointer> lock() const;
  // Without its ordinal.
  [[nodiscard]] CallbackId describe(const EntityPointer& locked) const;
};

// Nodes and groups as they were added: a group does not know its node.
class Nodes {
 public:
  using NodeBase = rclcpp::node_interfaces::NodeBaseInterface;

  // From any thread.
  void add(const NodeBase::SharedPtr& node);
  // How many have come, also those that have gone since, and when the last one did.
  struct Arrived {
    std::size_t count = 0;
    os::TimePoint last = {};
  };
  [[nodiscard]] Arrived arrived() const;
  // Reentrant groups that were met since the last call: the user is told what they are here.
  [[nodiscard]] std::vector<std::shared_ptr<const Group>> take_reentrant();

  // Of these groups, in the order of their making. From one thread at a time.
  [[nodiscard]] std::vector<Entity> collect(
      const std::vector<rclcpp::CallbackGroup::WeakPtr>& groups);

 private:
  struct Known {
    std::weak_ptr<rclcpp::CallbackGroup> group = {};
    std::shared_ptr<Group> exclusion = {};
  };

  struct Member {
    NodeBase::WeakPtr node;
    bool again = false;   // there was another node of its name
    std::size_t met = 0;  // groups of it
  };

  // rclcpp has them by their addresses: what is counted would be counted another way each time.
  using Met = std::pair<std::shared_ptr<Group>, rclcpp::CallbackGroup::SharedPtr>;
  [[nodiscard]] std::vector<Met> in_order(
      const std::vector<rclcpp::CallbackGroup::WeakPtr>& groups);
  void meet_groups();
  void meet_groups(Member& of);
  // `of`: its node's; null: it was added without one.
  Known& known(const rclcpp::CallbackGroup::SharedPtr& group, Member* of);

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Member>> nodes_;  // in the order of their coming
  std::map<const NodeBase*, std::weak_ptr<Member>> members_;
  Arrived arrived_;
  std::map<const rclcpp::CallbackGroup*, Known> groups_;
  std::vector<std::shared_ptr<const Group>> reentrant_;
  std::set<std::string> names_;  // of nodes, also of those that have gone
  std::size_t met_of_none_ = 0;  // without a node
  std::size_t met_ = 0;
};

}  // namespace takt_rclcpp
