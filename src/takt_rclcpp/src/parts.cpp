// SPDX-License-Identifier: Apache-2.0
//
// What becomes a part of its group's housekeeping when it comes, and leaves it when it goes.
#include <algorithm>
#include <utility>

#include "core_names.hpp"
#include "tasks.hpp"

namespace takt_rclcpp {

bool Tasks::is_part(const CallbackId& id, const Timing& timing) {
  const bool may_be = id.kind == CallbackKind::service || id.kind == CallbackKind::qos_event;
  return id.housekeeping && may_be && timing.is_default();
}

bool Tasks::see_part(const Entity& entity) {
  const auto found = parts_.find(entity.key);
  if (found == parts_.end()) {
    return false;
  }
  Part& part = found->second;
  if (part.entity.expired()) {  // another one is there now
    leave(entity.key);
    return false;
  }
  part.round = round_;
  present_.at(part.group).round = round_;
  return true;
}

void Tasks::forget_parts() {
  std::vector<const void*> gone;
  for (const auto& [key, part] : parts_) {
    if (part.round != round_) {
      gone.push_back(key);
    }
  }
  std::ranges::for_each(gone, [this](const void* key) { leave(key); });
}

// Also without a part, where there are new ones.
void Tasks::keep_housekeeping(const std::vector<const Entity*>& come) {
  for (const Entity* const entity : come) {
    const auto known = present_.find(entity->group.get());
    if (known != present_.end()) {
      known->second.round = round_;
    }
  }
}

void Tasks::join(const Joining& joining, std::vector<Task>& added, executor::Executor& core) {
  const std::shared_ptr<Group>& group = joining.entity->group;
  const void* const key = group.get();
  std::shared_ptr<Housekeeping> housekeeping;
  if (const auto known = present_.find(key); known != present_.end()) {
    housekeeping = known->second.housekeeping;
  } else if (const auto created = std::ranges::find(added, key, &Task::key);
             created != added.end()) {
    housekeeping = created->housekeeping;
  } else {
    CallbackId id{.node = group->node,
                  .kind = CallbackKind::housekeeping,
                  .group = group->ordinal,
                  .housekeeping = true};
    while (names_.contains(id.text())) {
      ++id.ordinal;
    }
    auto parts = std::make_unique<Housekeeping>();
    const sched::Task task = describe(id, {}, *group, nullptr);
    declare(task.trigger, core);
    Housekeeping* const of = parts.get();
    const auto source = std::make_shared<MessageSource>(id, task, group, bell_, std::move(parts));
    housekeeping = std::shared_ptr<Housekeeping>{source, of};
    names_.insert(task.name);
    added.push_back({.key = key,
                     .entity = group,
                     .source = source,
                     .name = task.name,
                     .housekeeping = housekeeping,
                     .round = round_});
  }
  const bool asks_again = std::holds_alternative<rclcpp::ServiceBase::SharedPtr>(joining.locked);
  housekeeping->add(joining.entity->key, listen_to(joining.locked), asks_again);
  parts_[joining.entity->key] = {
      .entity = std::visit([](const auto& pointer) { return std::weak_ptr<const void>{pointer}; },
                           joining.locked),
      .of = std::move(housekeeping),
      .group = key,
      .name = joining.name,
      .round = round_};
}

void Tasks::leave(const void* key) noexcept {
  const auto found = parts_.find(key);
  if (found != parts_.end()) {
    const auto gone = parts_.extract(found);  // it may ask back when it is destroyed
    free_name(gone.mapped().name);
    gone.mapped().of->remove(key);
  }
}

}  // namespace takt_rclcpp
