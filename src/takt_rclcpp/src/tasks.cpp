// SPDX-License-Identifier: Apache-2.0
#include "tasks.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core_names.hpp"
#include "takt/sched/error.hpp"

namespace takt_rclcpp {

Tasks::Tasks(const Options& options, TimingRule rule, Needs needs, std::shared_ptr<Bell> bell,
             executor::PriorityMutex& asked)
    : options_{options},
      rule_{std::move(rule)},
      needs_{needs},
      bell_{std::move(bell)},
      asked_{asked} {}

// Another one may be where one has gone.
bool Tasks::see(const Entity& entity) {
  if (see_part(entity)) {
    return true;
  }
  const auto known = present_.find(entity.key);
  if (known == present_.end() || known->second.entity.expired() ||
      known->second.source->is_outdated() || known->second.source->is_let_go()) {
    return false;
  }
  known->second.round = round_;
  return true;
}

bool Tasks::follow(const std::vector<Entity>& entities, Which which, Fault fault,
                   executor::Executor& core) {
  ++round_;
  std::vector<const Entity*> come;
  bool left_out = false;
  for (const Entity& entity : entities) {
    if (see(entity)) {
      continue;
    }
    const auto locked = entity.lock();
    if (!locked || is_refused(entity)) {
      continue;
    }
    if (which == Which::all || !entity.describe(*locked).housekeeping) {
      come.push_back(&entity);
    } else {
      left_out = true;
    }
  }
  for (const auto& [key, task] : present_) {
    if (task.round == round_) {
      task.source->catch_up();
    }
  }
  forget_parts();
  const bool all_stay = std::ranges::all_of(
      present_, [this](const auto& entry) { return entry.second.round == round_; });
  if (come.empty() && all_stay) {
    return left_out;
  }
  renew_readers(entities, come);
  try {
    replace(come, fault, core);
  } catch (const std::exception&) {  // also for no thread, or what the middleware refuses
    if (fault == Fault::ends) {
      throw;
    }
    replace_by_node(come, core);
  }
  return left_out;
}

void Tasks::forget_gone(const std::vector<Entity>& entities, executor::Executor& core) {
  ++round_;
  std::unordered_set<const void*> keys;
  for (const Entity& entity : entities) {
    static_cast<void>(see(entity));
    keys.insert(entity.key);
  }
  std::erase_if(left_out_, [&](const auto& entry) { return !keys.contains(entry.first); });
  forget_parts();
  std::vector<const Entity*> readers;
  renew_readers(entities, readers);
  replace(readers, Fault::is_of_node, core);
}

bool Tasks::is_refused(const Entity& entity) {
  const auto found = left_out_.find(entity.key);
  if (found != left_out_.end() && found->second.expired()) {  // another one is there now
    left_out_.erase(found);
    return false;
  }
  return found != left_out_.end();
}

// Where all together are refused.
void Tasks::replace_by_node(const std::vector<const Entity*>& come, executor::Executor& core) {
  std::erase_if(left_out_, [](const auto& entry) { return entry.second.expired(); });
  replace({}, Fault::is_of_node, core);  // what has gone
  std::map<std::string, std::vector<const Entity*>> of_nodes;
  for (const Entity* const entity : come) {
    of_nodes[entity->group->node].push_back(entity);
  }
  for (const auto& [node, of_node] : of_nodes) {
    try {
      replace(of_node, Fault::is_of_node, core);
    } catch (const std::exception& error) {
      for (const Entity* const entity : of_node) {
        left_out_[entity->key] = std::visit(
            [](const auto& weak) { return std::weak_ptr<const void>{weak}; }, entity->entity);
      }
      remarks_.push_back("what has come of node '" + node + "' is left out: " + error.what());
    }
  }
}

void Tasks::replace(const std::vector<const Entity*>& come, Fault fault, executor::Executor& core) {
  Renamed renamed;
  try {
    replace(come, fault, core, renamed);
  } catch (...) {
    std::ranges::for_each(renamed.joined, [this](const void* key) { leave(key); });
    std::ranges::for_each(renamed.given, [this](const std::string& name) { free_name(name); });
    names_.insert(renamed.freed.begin(), renamed.freed.end());
    throw;
  }
}

void Tasks::let_go(const std::vector<Entity>& entities) {
  std::unordered_set<const void*> keys;
  for (const Entity& entity : entities) {
    keys.insert(entity.key);
  }
  for (const auto& [key, task] : present_) {
    if (task.housekeeping == nullptr && !keys.contains(key)) {
      task.source->let_go();
    }
  }
  std::vector<const void*> gone;
  for (const auto& [key, part] : parts_) {
    if (!keys.contains(key)) {
      gone.push_back(key);
    }
  }
  std::ranges::for_each(gone, [this](const void* key) { leave(key); });
}

void Tasks::look_again() {
  for (const auto& [key, task] : present_) {
    task.source->look_again();
  }
}

// Those that were not seen in this round by those that came.
void Tasks::replace(const std::vector<const Entity*>& come, Fault fault, executor::Executor& core,
                    Renamed& renamed) {
  keep_housekeeping(come);
  executor::Changes changes;
  for (const auto& [key, task] : present_) {
    if (task.round != round_) {
      task.each_name([&](const std::string& name) { changes.remove(name); });
      renamed.freed.push_back(task.name);
      free_name(task.name);
    }
  }
  // One that is made anew has hooks in the same entity: the former ones have to go first.
  if (std::ranges::any_of(come,
                          [this](const Entity* one) { return present_.contains(one->key); })) {
    write(core.apply(std::exchange(changes, {})).change, {});
    renamed.freed.clear();
  }
  std::vector<Task> added;
  added.reserve(come.size());
  for (const Entity* const entity : come) {
    const auto locked = entity->lock();
    if (!locked) {
      continue;
    }
    const CallbackId id = identify(*entity, *locked);
    const Timing timing = rule_ ? rule_(id) : Timing{};
    renamed.given.push_back(id.text());
    names_.insert(id.text());
    if (is_part(id, timing)) {
      renamed.joined.push_back(entity->key);
      const std::size_t before = added.size();
      join({.entity = entity, .locked = *locked, .name = id.text()}, added, core);
      if (added.size() != before) {
        renamed.given.push_back(added.back().name);
      }
    } else {
      added.push_back(make(id, timing, *entity, *locked, core));
    }
  }
  for (Task& task : added) {
    const executor::Binding binding = bind(task, added, fault);
    changes.add(task.source->describe(), binding);
    for (const std::shared_ptr<Lane>& lane : task.lanes) {
      executor::Binding of_lane = binding;
      of_lane.source = lane;
      changes.add(lane->describe(), std::move(of_lane));
    }
  }
  write(core.apply(std::move(changes)).change, std::move(added));
}

void Tasks::write(const executor::Change& change, std::vector<Task> added) {
  std::vector<std::shared_ptr<Source>> gone;  // destroyed without the lock
  const std::lock_guard lock{asked_};
  static_cast<void>(is_settled());  // forgets what is
  under_way_.push_back(change);
  std::erase_if(present_, [&](auto& entry) {
    const bool is_gone = entry.second.round != round_;
    if (is_gone) {
      gone.push_back(std::move(entry.second.source));
    }
    return is_gone;
  });
  for (Task& task : added) {
    present_.emplace(task.key, std::move(task));
  }
}

bool Tasks::is_settled() {
  std::erase_if(under_way_, [](const executor::Change& change) { return change.done(); });
  return under_way_.empty();
}

}  // namespace takt_rclcpp
