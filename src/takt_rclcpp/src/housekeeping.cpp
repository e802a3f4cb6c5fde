// SPDX-License-Identifier: Apache-2.0
#include "housekeeping.hpp"

#include <algorithm>
#include <exception>
#include <rclcpp/logging.hpp>
#include <utility>

namespace takt_rclcpp {
namespace {

void silence_quietly(Arriving& member) noexcept {
  try {
    member.silence();
  } catch (const std::exception& error) {  // the middleware refused: it will talk to nobody
    RCLCPP_WARN(rclcpp::get_logger("takt"), "cannot stop listening: %s", error.what());
  }
}

}  // namespace

void Housekeeping::add(const void* key, std::shared_ptr<Arriving> member, bool asks_again) {
  const std::lock_guard lock{mutex_};
  const std::int64_t part = next_++;
  members_.emplace(part, Member{.key = key, .entity = member, .asks_again = asks_again});
  if (listener_.arrivals == nullptr) {
    return;
  }
  try {
    member->listen({.arrivals = listener_.arrivals, .first = part});
  } catch (...) {
    silence_quietly(*member);
    members_.erase(part);
    throw;
  }
}

void Housekeeping::remove(const void* key) noexcept {
  decltype(members_)::node_type gone;  // destroyed without the lock
  const std::lock_guard lock{mutex_};
  const auto found =
      std::ranges::find_if(members_, [key](const auto& entry) { return entry.second.key == key; });
  if (found != members_.end()) {
    silence_quietly(*found->second.entity);
    gone = members_.extract(found);
  }
}

void Housekeeping::listen(const Listener& listener) {
  const std::lock_guard lock{mutex_};
  listener_ = listener;
  for (const auto& [part, member] : members_) {
    member.entity->listen({.arrivals = listener.arrivals, .first = part});
  }
}

void Housekeeping::silence() {
  const std::lock_guard lock{mutex_};
  listener_ = {};
  for (const auto& [part, member] : members_) {
    silence_quietly(*member.entity);
  }
}

void Housekeeping::listen_again() {
  const std::lock_guard lock{mutex_};
  for (const auto& [part, member] : members_) {
    if (member.asks_again) {
      member.entity->listen_again();
    }
  }
}

void Housekeeping::execute(std::int64_t part) {
  std::shared_ptr<Arriving> member;
  {
    const std::lock_guard lock{mutex_};
    const auto found = members_.find(part);
    if (found == members_.end()) {
      return;  // it has gone
    }
    member = found->second.entity;
  }
  member->execute(0);
}

}  // namespace takt_rclcpp
