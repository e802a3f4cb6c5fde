// SPDX-License-Identifier: Apache-2.0
#include "shared_core.hpp"

#include <algorithm>

namespace takt::sim {

void SharedCore::add(std::size_t partition, const application::Process& process) {
  if (process.reservation) {
    servers_.push_back({.partition = partition, .server = Server{*process.reservation}});
  } else {
    others_.push_back({.partition = partition});
    if (process.quota) {
      others_.back().quota = Quota{*process.quota};
    }
  }
}

TimePoint SharedCore::next() const noexcept {
  TimePoint next = TimePoint::max();
  for (const Member& member : servers_) {
    next = std::min(next, member.server->is_awake() ? member.server->next() : of(member).due());
  }
  for (const Member& member : others_) {
    next = member.quota ? std::min(next, member.quota->next()) : next;
  }
  return next;
}

void SharedCore::decide(TimePoint now) noexcept {
  for (Member& member : servers_) {
    member.server->look(now, of(member).busy() || of(member).due() <= now);
  }
  std::ranges::stable_sort(servers_, {}, [](const Member& member) {
    return member.server->is_ready() ? member.server->deadline() : TimePoint::max();
  });
  bool taken = false;
  for (Member& member : servers_) {
    const bool runs = run(member, taken || !member.server->is_ready(), now);
    member.server->set_running(runs);
    if (member.server->is_ready() && !taken && !runs) {
      member.server->sleep();  // it had nothing to run
    }
    taken = taken || runs;
  }
  for (Member& member : others_) {
    if (!member.quota) {
      taken = run(member, taken, now) || taken;
      continue;
    }
    member.quota->look(now);
    const bool runs = run(member, taken || member.quota->is_throttled(), now);
    member.quota->set_running(runs);
    taken = taken || runs;
  }
}

// Whether it has the core, and something to run.
bool SharedCore::run(Member& member, bool taken, TimePoint now) const noexcept {
  Partition& partition = of(member);
  if (taken) {
    partition.hold(now);
    return false;
  }
  partition.let(now);
  if (partition.may_decide(now)) {
    partition.decide(now);
  }
  return partition.busy();
}

}  // namespace takt::sim
