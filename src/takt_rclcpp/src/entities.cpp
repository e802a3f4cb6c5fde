// SPDX-License-Identifier: Apache-2.0
#include "entities.hpp"

#include <algorithm>
#include <array>
#include <rclcpp/event_handler.hpp>
#include <rclcpp/experimental/subscription_intra_process_base.hpp>
#include <utility>

#include "core_names.hpp"
#include "timer_sources.hpp"

namespace takt_rclcpp {
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

CallbackId describe_waitable(const rclcpp::Waitable& waitable) {
  using IntraProcess = rclcpp::experimental::SubscriptionIntraProcessBase;
  if (const auto* const intra = dynamic_cast<const IntraProcess*>(&waitable)) {
    return {.kind = CallbackKind::intra_process, .topic_or_service = intra->get_topic_name()};
  }
  if (dynamic_cast<const rclcpp::EventHandlerBase*>(&waitable) != nullptr) {
    return {.kind = CallbackKind::qos_event, .housekeeping = true};
  }
  return {.kind = CallbackKind::waitable};
}

// Before rclcpp 29, what has timers drives them itself.
template <class Waitable>
std::vector<rclcpp::TimerBase::SharedPtr> timers_of(const Waitable& waitable) {
  if constexpr (requires { waitable.get_timers(); }) {
    return waitable.get_timers();
  } else {
    return {};
  }
}

}  // namespace

std::optional<EntityPointer> Entity::lock() const {
  return std::visit(
      [](const auto& weak) -> std::optional<EntityPointer> {
        if (auto pointer = weak.lock()) {
          return EntityPointer{std::move(pointer)};
        }
        return std::nullopt;
      },
      entity);
}

CallbackId Entity::describe(const EntityPointer& locked) const {
  struct Describe {
    const Entity& entity;

    CallbackId operator()(const rclcpp::TimerBase::SharedPtr& timer) const {
      return {.kind = CallbackKind::timer,
              .period = period_of(*timer),
              .housekeeping = entity.of_waitable};
    }
    CallbackId operator()(const rclcpp::SubscriptionBase::SharedPtr& subscription) const {
      const std::string topic = subscription->get_topic_name();
      return {.kind = CallbackKind::subscription,
              .topic_or_service = topic,
              .housekeeping = topic == "/parameter_events"};
    }
    CallbackId operator()(const rclcpp::ServiceBase::SharedPtr& service) const {
      const std::string name = service->get_service_name();
      return {.kind = CallbackKind::service,
              .topic_or_service = name,
              .housekeeping = is_of_node(name, entity.group->node)};
    }
    CallbackId operator()(const rclcpp::ClientBase::SharedPtr& client) const {
      return {.kind = CallbackKind::client, .topic_or_service = client->get_service_name()};
    }
    CallbackId operator()(const rclcpp::Waitable::SharedPtr& waitable) const {
      return describe_waitable(*waitable);
    }
  };
  CallbackId id = std::visit(Describe{*this}, locked);
  id.node = group->node;
  id.group = group->ordinal;
  return id;
}

void Nodes::add(const NodeBase::SharedPtr& node) {
  const std::lock_guard lock{mutex_};
  auto& known = members_[node.get()];
  if (known.lock() == nullptr || known.lock()->node.lock() != node) {
    const bool again = !names_.insert(node->get_fully_qualified_name()).second;
    nodes_.push_back(std::make_shared<Member>(Member{.node = node, .again = again}));
    known = nodes_.back();
    arrived_ = {.count = arrived_.count + 1, .last = os::now()};
  }
  meet_groups(*known.lock());
}

Nodes::Arrived Nodes::arrived() const {
  const std::lock_guard lock{mutex_};
  return arrived_;
}

std::vector<std::shared_ptr<const Group>> Nodes::take_reentrant() {
  const std::lock_guard lock{mutex_};
  return std::exchange(reentrant_, {});
}

Nodes::Known& Nodes::known(const rclcpp::CallbackGroup::SharedPtr& group, Member* of) {
  Known& entry = groups_[group.get()];
  if (entry.group.lock() == group) {
    return entry;
  }
  auto met = std::make_shared<Group>();
  const auto node = of == nullptr ? nullptr : of->node.lock();
  met->node = node == nullptr ? "" : node->get_fully_qualified_name();
  met->ordinal = node == nullptr ? met_of_none_++ : of->met++;
  met->place = met_++;
  met->name = met->node + "#" + std::to_string(met->ordinal);
  if (node != nullptr && of->again) {  // groups of the former one may still have jobs
    met->name += "." + std::to_string(met->place);
  }
  met->exclusive = group->type() == rclcpp::CallbackGroupType::MutuallyExclusive;
  if (!met->exclusive) {
    reentrant_.push_back(met);
  }
  entry = {.group = group, .exclusion = std::move(met)};
  return entry;
}

void Nodes::meet_groups() {
  std::erase_if(groups_, [](const auto& entry) { return entry.second.group.expired(); });
  std::erase_if(nodes_, [](const auto& member) { return member->node.expired(); });
  std::erase_if(members_, [](const auto& entry) { return entry.second.expired(); });
  for (const auto& member : nodes_) {
    meet_groups(*member);
  }
}

void Nodes::meet_groups(Member& of) {
  if (const auto node = of.node.lock()) {
    node->for_each_callback_group(
        [&](const rclcpp::CallbackGroup::SharedPtr& group) { known(group, &of); });
  }
}

std::vector<Nodes::Met> Nodes::in_order(const std::vector<rclcpp::CallbackGroup::WeakPtr>& groups) {
  const std::lock_guard lock{mutex_};
  meet_groups();
  std::vector<Met> in_order;
  for (const rclcpp::CallbackGroup::WeakPtr& weak : groups) {
    if (auto group = weak.lock()) {
      std::shared_ptr<Group> exclusion = known(group, nullptr).exclusion;
      in_order.emplace_back(std::move(exclusion), std::move(group));
    }
  }
  std::ranges::sort(in_order, {}, [](const Met& met) { return met.first->place; });
  return in_order;
}

std::vector<Entity> Nodes::collect(const std::vector<rclcpp::CallbackGroup::WeakPtr>& groups) {
  std::vector<Entity> entities;
  // Waitables are users': they may ask back, or bring nodes along.
  for (const auto& [exclusion, group] : in_order(groups)) {
    const auto add = [&, exclusion = exclusion](const auto& entity) {
      entities.push_back(
          {.entity = std::weak_ptr{entity}, .key = entity.get(), .group = exclusion});
    };
    group->collect_all_ptrs(add, add, add, add, [&](const rclcpp::Waitable::SharedPtr& waitable) {
      add(waitable);
      for (const auto& timer : timers_of(*waitable)) {
        entities.push_back({.entity = std::weak_ptr{timer},
                            .key = timer.get(),
                            .of_waitable = true,
                            .group = exclusion});
      }
    });
  }
  return entities;
}

}  // namespace takt_rclcpp
