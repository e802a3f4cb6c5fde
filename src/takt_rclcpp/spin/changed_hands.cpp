// SPDX-License-Identifier: Apache-2.0
#include "changed_hands.hpp"

#include <algorithm>
#include <exception>
#include <rclcpp/logging.hpp>

namespace takt_rclcpp::spin {
namespace {

thread_local bool passing = false;

void add(rclcpp::Executor& to, const NodePointer& node, const GroupPointer& group, bool notify) {
  if (group) {
    to.add_callback_group(group, node, notify);
  } else {
    to.add_node(node, notify);
  }
}

void remove(rclcpp::Executor& from, const NodePointer& node, const GroupPointer& group,
            bool notify) {
  if (group) {
    from.remove_callback_group(group, notify);
  } else {
    from.remove_node(node, notify);
  }
}

}  // namespace

Passing::Passing() noexcept : before_{std::exchange(passing, true)} {}
Passing::~Passing() {
  passing = before_;
}
bool Passing::on() noexcept {
  return passing;
}

std::shared_ptr<Together> ChangedHands::other() {
  const std::lock_guard lock{mutex_};
  return other_;
}

bool ChangedHands::is_new() {
  const std::lock_guard lock{mutex_};
  return std::exchange(is_new_, false);
}

void ChangedHands::keep(std::shared_ptr<Together> other) {
  const std::lock_guard lock{mutex_};
  other_ = std::move(other);
}

void ChangedHands::add_node(const NodePointer& node, bool notify, const Stock& stock) {
  const std::shared_lock held{hands_};
  if (const auto to = other()) {
    const Passing straight;
    to->executor->add_node(node, notify);
  } else {
    stock();
  }
  const std::lock_guard lock{mutex_};
  members_.push_back({.node = node, .group = {}});
}

void ChangedHands::remove_node(const NodePointer& node, bool notify, const Stock& stock) {
  const std::shared_lock held{hands_};
  if (const auto from = other()) {
    const Passing straight;
    from->executor->remove_node(node, notify);
  } else {
    stock();
  }
  forget(node, nullptr);
}

void ChangedHands::add_group(const GroupPointer& group, const NodePointer& node, bool notify,
                             const Stock& stock) {
  const std::shared_lock held{hands_};
  if (const auto to = other()) {
    const Passing straight;
    to->executor->add_callback_group(group, node, notify);
  } else {
    stock();
  }
  const std::lock_guard lock{mutex_};
  members_.push_back({.node = node, .group = group, .is_group = true});
}

void ChangedHands::remove_group(const GroupPointer& group, bool notify, const Stock& stock) {
  const std::shared_lock held{hands_};
  if (const auto from = other()) {
    const Passing straight;
    from->executor->remove_callback_group(group, notify);
  } else {
    stock();
  }
  forget(nullptr, group);
}

Groups ChangedHands::groups(Takeover::AskGroups which, const std::function<Groups()>& stock) {
  const std::shared_lock held{hands_};
  if (const auto asked = other()) {
    const Passing straight;
    return (asked->executor.get()->*which)();
  }
  return stock();
}

void ChangedHands::cancel(const Stock& stock) {
  const std::shared_lock held{hands_};
  const auto to = other();
  if (!to || !spins.load()) {  // it may wait for a future by itself
    stock();
  }
  if (to && (spins.load() || to->executor->is_spinning())) {  // else it would end the next spin()
    const Passing straight;
    to->executor->cancel();
  }
}

void ChangedHands::forget(const NodePointer& node, const GroupPointer& group) {
  const std::lock_guard lock{mutex_};
  std::erase_if(members_, [&](const Member& one) {
    return one.is_group ? group && one.group.lock() == group : node && one.node.lock() == node;
  });
}

std::vector<std::pair<NodePointer, GroupPointer>> ChangedHands::members() {
  const std::lock_guard lock{mutex_};
  std::vector<std::pair<NodePointer, GroupPointer>> there;
  std::erase_if(members_, [&](const Member& one) {
    NodePointer node = one.node.lock();
    GroupPointer group = one.group.lock();
    if (one.is_group ? group == nullptr : node == nullptr) {
      return true;
    }
    there.emplace_back(std::move(node), std::move(group));
    return false;
  });
  return there;
}

std::vector<std::string> ChangedHands::names() {
  std::vector<std::string> found;
  for (const auto& [node, group] : members()) {
    const std::string name = node ? node->get_fully_qualified_name() : "";
    if (!name.empty() && std::find(found.begin(), found.end(), name) == found.end()) {
      found.push_back(name);
    }
  }
  return found;
}

rclcpp::Context::SharedPtr ChangedHands::context() {
  for (const auto& [node, group] : members()) {
    if (node) {
      return node->get_context();
    }
  }
  return nullptr;
}

std::optional<std::string> ChangedHands::give(rclcpp::Executor& from,
                                              std::shared_ptr<Together> other) {
  const std::unique_lock held{hands_};
  const Passing straight;
  const auto all = members();
  std::size_t taken = 0;
  std::size_t given = 0;
  std::optional<std::string> fault;
  try {
    for (const auto& [node, group] : all) {
      remove(from, node, group, false);
      ++taken;
    }
    // Removed nodes are let go of only when it looks at what it has.
    const Groups left = from.get_all_callback_groups();
    const auto is_there = [](const auto& group) { return !group.expired(); };
    if (std::any_of(left.begin(), left.end(), is_there)) {
      fault = "it has nodes that were added in a way that is not known here";
    } else {
      for (const auto& [node, group] : all) {
        add(*other->executor, node, group, false);
        ++given;
      }
    }
  } catch (const std::exception& error) {
    fault = error.what();
  }
  if (fault) {
    for (std::size_t i = 0; i < given; ++i) {
      remove(*other->executor, all[i].first, all[i].second, false);
    }
    static_cast<void>(other->executor->get_all_callback_groups());
    for (std::size_t i = 0; i < taken; ++i) {
      add(from, all[i].first, all[i].second, false);
    }
    return fault;
  }
  const std::lock_guard lock{mutex_};
  other_ = std::move(other);
  return {};
}

void ChangedHands::take_back(rclcpp::Executor& from) noexcept {
  const std::unique_lock held{hands_};
  const Passing straight;
  std::shared_ptr<Together> former;
  {
    const std::lock_guard lock{mutex_};
    former = std::move(other_);
  }
  const auto each = [all = members()](const auto& act) {
    for (const auto& [node, group] : all) {
      try {
        act(node, group);
      } catch (const std::exception& error) {
        RCLCPP_ERROR(rclcpp::get_logger("takt"),
                     "a node could not be given back to its executor: %s", error.what());
      }
    }
  };
  each([&](const auto& node, const auto& group) { remove(*former->executor, node, group, false); });
  static_cast<void>(former->executor->get_all_callback_groups());
  each([&](const auto& node, const auto& group) { add(from, node, group, false); });
}

}  // namespace takt_rclcpp::spin
