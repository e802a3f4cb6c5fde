// SPDX-License-Identifier: Apache-2.0
#include "entities.hpp"

#include <algorithm>
#include <array>
#include <rclcpp/event_handler.hpp>
#include <rclcpp/experimental/subscription_intra_process_base.hpp>
#include <utility>

#include "timer_sources.hpp"

namespace takt::rclcpp {
namespace {

// Every node offers them, whatever its author wanted of it.
constexpr std::array<std::string_view, 7> services_of_nodes{
    "/describe_parameters",  "/get_parameter_types", "/get_parameters",
    "/list_parameters",      "/set_parameters",      "/set_parameters_atomically",
    "/get_type_description",
};

bool is_of_node(std::string_view service, std::string_view node) {
  return std::ranges::any_of(services_of_nodes, [&](std::string_view name) {
    return service.ends_with(name) &&
           service.substr(0, service.size() - name.size()).ends_with(node);
  });
}

CallbackId describe(const ::rclcpp::Waitable& waitable) {
  using IntraProcess = ::rclcpp::experimental::SubscriptionIntraProcessBase;
  if (const auto* const intra = dynamic_cast<const IntraProcess*>(&waitable)) {
    return {.kind = CallbackKind::intra_process, .topic_or_service = intra->get_topic_name()};
  }
  if (dynamic_cast<const ::rclcpp::EventHandlerBase*>(&waitable) != nullptr) {
    return {.kind = CallbackKind::qos_event, .housekeeping = true};
  }
  return {.kind = CallbackKind::waitable};
}

}  // namespace

std::shared_ptr<const void> Entity::key() const {
  return std::visit([](const auto& pointer) { return std::shared_ptr<const void>{pointer}; },
                    entity);
}

void Nodes::add(const NodeBase::SharedPtr& node) {
  const std::lock_guard lock{mutex_};
  std::erase_if(nodes_, [](const NodeBase::WeakPtr& other) { return other.expired(); });
  const bool is_known = std::ranges::any_of(
      nodes_, [&](const NodeBase::WeakPtr& other) { return other.lock() == node; });
  if (!is_known) {
    nodes_.emplace_back(node);
  }
}

Nodes::Known& Nodes::known(const ::rclcpp::CallbackGroup::SharedPtr& group, const NodeBase* node) {
  Known& entry = groups_[group.get()];
  if (entry.group.lock() == group) {
    return entry;
  }
  entry = {.group = group, .node = node == nullptr ? "" : node->get_fully_qualified_name()};
  entry.ordinal = met_of_node_[entry.node]++;
  entry.exclusion = std::make_shared<Group>();
  entry.exclusion->name = entry.node + "#" + std::to_string(entry.ordinal);
  entry.exclusion->exclusive = group->type() == ::rclcpp::CallbackGroupType::MutuallyExclusive;
  return entry;
}

void Nodes::meet_groups() {
  std::erase_if(groups_, [](const auto& entry) { return entry.second.group.expired(); });
  for (const NodeBase::WeakPtr& weak : nodes_) {
    if (const auto node = weak.lock()) {
      node->for_each_callback_group(
          [&](const ::rclcpp::CallbackGroup::SharedPtr& group) { known(group, node.get()); });
    }
  }
}

std::vector<Entity> Nodes::collect(const std::vector<::rclcpp::CallbackGroup::WeakPtr>& groups) {
  const std::lock_guard lock{mutex_};
  meet_groups();
  std::vector<Entity> entities;
  for (const ::rclcpp::CallbackGroup::WeakPtr& weak : groups) {
    const auto group = weak.lock();
    if (group == nullptr) {
      continue;
    }
    const Known& of = known(group, nullptr);
    const auto add = [&](auto entity, CallbackId id) {
      id.node = of.node;
      id.group = of.ordinal;
      entities.push_back({.entity = std::move(entity), .id = std::move(id), .group = of.exclusion});
    };
    const auto add_timer = [&](const ::rclcpp::TimerBase::SharedPtr& timer, bool housekeeping) {
      add(timer,
          {.kind = CallbackKind::timer, .period = period_of(*timer), .housekeeping = housekeeping});
    };
    group->collect_all_ptrs(
        [&](const ::rclcpp::SubscriptionBase::SharedPtr& subscription) {
          const std::string topic = subscription->get_topic_name();
          add(subscription, {.kind = CallbackKind::subscription,
                             .topic_or_service = topic,
                             .housekeeping = topic == "/parameter_events"});
        },
        [&](const ::rclcpp::ServiceBase::SharedPtr& service) {
          const std::string name = service->get_service_name();
          add(service, {.kind = CallbackKind::service,
                        .topic_or_service = name,
                        .housekeeping = is_of_node(name, of.node)});
        },
        [&](const ::rclcpp::ClientBase::SharedPtr& client) {
          add(client,
              {.kind = CallbackKind::client, .topic_or_service = client->get_service_name()});
        },
        [&](const ::rclcpp::TimerBase::SharedPtr& timer) { add_timer(timer, false); },
        [&](const ::rclcpp::Waitable::SharedPtr& waitable) {
          add(waitable, describe(*waitable));
          for (const auto& timer : waitable->get_timers()) {
            add_timer(timer, true);
          }
        });
  }
  return entities;
}

}  // namespace takt::rclcpp
