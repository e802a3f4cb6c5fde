// SPDX-License-Identifier: Apache-2.0
#include "subchain_returns.hpp"

#include <algorithm>
#include <optional>

namespace takt::analysis {
namespace {

// By link: whether it is the first of a subchain to which the last link leads, or one behind it,
// directly or over other subchains.
std::vector<bool> following(const Subchains& core, std::size_t last) {
  const std::vector<bool> behind = core.behind(last);
  const std::size_t unit = core.links[last].first;
  std::vector<bool> result(core.links.size(), false);
  for (std::size_t i = 0; i < core.links.size(); ++i) {
    const std::size_t before = core.links[i].follows;
    if (core.links[i].first == i && i != unit && before != nobody) {
      const std::size_t first = core.links[before].first;
      result[i] = first == unit ? before == last || behind[before] : result[first];
    }
  }
  return result;
}

bool preempts(const Subchains& core, std::size_t first, sched::Level threshold) {
  for (std::size_t i = first; i < core.links.size(); ++i) {
    if (core.links[i].first == first && core.demand(i).level > threshold) {
      return true;
    }
  }
  return false;
}

// Whether the message of the link may lead to one of those that follow it before its job has ended:
// it comes early, nothing takes time on the way, or what else it releases keeps the job from its
// end (eq. 31), be it only another one of them.
bool may_be_early(const Subchains& core, std::size_t last) {
  const sched::Level threshold = std::max(core.demand(last).level, core.demand(last).ceiling);
  const std::vector<bool> within =
      core.within(last, [&](const Demand& other) { return other.level > threshold; });
  if (core.links[last].overlaps || std::ranges::find(within, true) != within.end()) {
    return true;
  }
  const std::vector<bool> follows = following(core, last);
  for (std::size_t i = 0; i < follows.size(); ++i) {
    if (follows[i] && core.links[i].apart.count() == 0 && preempts(core, i, threshold)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void find_early(Subchains& core) {
  if (std::ranges::all_of(core.links, [](const auto& link) { return link.follows == nobody; })) {
    return;
  }
  for (std::size_t i = 0; i < core.links.size(); ++i) {
    core.links[i].early = may_be_early(core, i);
  }
}

Returns::Returns(const Subchains& core, const SubchainUnit& unit)
    : places_(core.links.size(), nobody), leads_(core.links.size(), false) {
  const std::size_t unit_first = core.links[unit.last].first;
  const std::vector<bool> follows = following(core, unit.last);
  for (std::size_t i = 0; i < follows.size(); ++i) {
    if (follows[i]) {
      add(core, i, unit_first);
    }
  }
  for (Follower& follower : followers_) {
    const bool early =
        core.links[unit.last].early && preempts(core, follower.first, unit.threshold);
    follower.early = early || !unit.by_level ? 1 : 0;
  }
  if (unit.by_level) {
    add_leading(core, unit_first);
  }
}

// Links on the way to the unit, of earlier subchains: those of the same release have ended `apart_`
// before the unit's first job comes, and of later releases of the root none has come by then.
void Returns::add_leading(const Subchains& core, std::size_t unit_first) {
  const SubchainLink& own = core.links[unit_first];
  if (!own.until_noticed || own.root == nullptr || own.root->period.count() <= 0) {
    return;
  }
  apart_ = own.apart;
  for (std::size_t last = own.follows; last != nobody;
       last = core.links[core.links[last].first].follows) {
    for (const std::size_t link : core.path(last)) {
      const nanoseconds window = *own.until_noticed - core.links[link].from_root - nanoseconds{1};
      leads_[link] =
          !core.links[link].early && (window.count() < 0 || own.root->closed(window) == 1);
    }
  }
}

// Nothing that counts is left when a busy period begins: its jobs come later than that.
void Returns::add(const Subchains& core, std::size_t first, std::size_t unit_first) {
  const SubchainLink& link = core.links[first];
  if (!link.until_noticed || link.root == nullptr || link.root->period.count() <= 0) {
    return;
  }
  const nanoseconds reach = *link.until_noticed - core.links[unit_first].from_root;
  if (reach.count() >= 0) {
    places_[first] = followers_.size();
    followers_.push_back({.first = first, .root = ArrivalCount{*link.root}, .reach = reach});
  }
}

std::vector<nanoseconds> Returns::beginnings(nanoseconds busy, Effort& effort) const {
  std::vector<nanoseconds> result{nanoseconds{0}};
  if (blocks_from_ < busy) {
    result.push_back(blocks_from_);
  }
  for (const Follower& follower : followers_) {
    for (std::int64_t k = follower.root.closed(follower.reach); effort.spend(1); ++k) {
      const nanoseconds begin = follower.root.time(k) - follower.reach;
      if (begin >= busy) {
        break;
      }
      result.push_back(begin);
    }
  }
  std::ranges::sort(result);
  const auto [from, to] = std::ranges::unique(result);
  result.erase(from, to);
  return result;
}

void Returns::begin_at(nanoseconds begin) {
  blocks_ = begin >= blocks_from_;
  for (Follower& follower : followers_) {
    follower.earlier = follower.root.closed(follower.reach + begin) - 1;
  }
}

}  // namespace takt::analysis
