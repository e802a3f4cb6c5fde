// SPDX-License-Identifier: Apache-2.0
#include "subchain_returns.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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

// From the release of the root to the end of all links of the subchain that count.
std::optional<nanoseconds> longest_until(const Subchains& core, std::size_t first,
                                         const std::vector<bool>& high) {
  nanoseconds longest{0};
  for (std::size_t i = first; i < core.links.size(); ++i) {
    if (core.links[i].first == first && high[i]) {
      if (!core.links[i].until) {
        return {};
      }
      longest = std::max(longest, *core.links[i].until);
    }
  }
  return longest;
}

bool preempts(const Subchains& core, std::size_t first, sched::Level threshold) {
  for (std::size_t i = first; i < core.links.size(); ++i) {
    if (core.links[i].first == first && core.demand(i).level > threshold) {
      return true;
    }
  }
  return false;
}

// Whether jobs of the first link of a subchain may come while one of `last` has computed all, and
// not ended. Those of its own chain belong to another release, which may be too far from its own.
bool may_come_between(const Subchains& core, std::size_t first, std::size_t last,
                      const std::vector<bool>& follows) {
  const SubchainLink& link = core.links[first];
  const std::optional<nanoseconds> latest =
      core.late_notice.count() == 0 ? link.until_noticed : link.until;
  if (link.root == nullptr || link.root->period.count() <= 0 || !latest ||
      !core.links[last].until) {
    return true;
  }
  const auto one_release = [&](nanoseconds window) {
    return window.count() < 0 || link.root->closed(window) == 1;
  };
  if (follows[first]) {  // of an earlier release: the later ones come when this job has ended
    const nanoseconds message = core.links[last].from_root + core.links[last].message_after;
    return !one_release(*latest - message);
  }
  for (std::size_t to = last; to != nobody; to = core.links[core.links[to].first].follows) {
    if (core.links[to].first == first) {  // of a later release: it leads to this job
      return !one_release(*core.links[last].until - link.from_root);
    }
  }
  return true;
}

// Whether a job of `last` that has computed all may be kept from its end for so long: by others
// that come in this moment and until then, or by the core's supply.
bool may_be_kept(const Subchains& core, std::size_t last, sched::Level threshold,
                 const std::vector<bool>& follows, nanoseconds most) {
  constexpr nanoseconds tick{1};
  constexpr int most_steps = 1000;
  std::vector<nanoseconds> above(core.links.size());  // by first link of a subchain
  std::vector<bool> preempting(core.links.size(), false);
  for (std::size_t i = 0; i < core.links.size(); ++i) {
    const std::size_t before = core.links[i].before;
    preempting[i] = core.demand(i).level > threshold &&
                    (before == nobody ? may_come_between(core, i, last, follows)
                                      : static_cast<bool>(preempting[before]));
    above[core.links[i].first] += preempting[i] ? core.demand(i).execution : nanoseconds{0};
  }
  std::vector<std::pair<Arrivals, nanoseconds>> others;
  for (std::size_t i = 0; i < above.size(); ++i) {
    if (above[i].count() > 0) {
      others.emplace_back(core.demand(i).noticed(), above[i]);
    }
  }
  for (const Demand* const interrupt : core.interrupts) {
    others.emplace_back(interrupt->noticed(), interrupt->execution);
  }
  if (std::ranges::any_of(others, [](const auto& one) { return one.first.period.count() <= 0; })) {
    return true;
  }
  nanoseconds kept{0};
  for (int step = 0; step < most_steps && kept < most; ++step) {
    nanoseconds sum{0};
    for (const auto& [noticed, execution] : others) {
      sum += noticed.closed(kept) * execution;
    }
    const nanoseconds next = core.supply.time_for(sum + tick) - tick;
    if (next <= kept) {
      return false;
    }
    kept = next;
  }
  return true;
}

// Whether the message of the link may lead to one of those that follow it before its job has ended:
// it comes early, nothing takes time on the way, or what else it releases keeps the job from its
// end (eq. 31), be it only another one of them. Or others that come in this moment keep it.
bool may_be_early(const Subchains& core, std::size_t last) {
  const sched::Level threshold = std::max(core.demand(last).level, core.demand(last).ceiling);
  const std::vector<bool> within =
      core.within(last, [&](const Demand& other) { return other.level > threshold; });
  if (core.links[last].overlaps || std::ranges::find(within, true) != within.end()) {
    return true;
  }
  const std::vector<bool> follows = following(core, last);
  std::optional<nanoseconds> apart;
  for (std::size_t i = 0; i < follows.size(); ++i) {
    if (follows[i] && preempts(core, i, threshold)) {
      apart = apart ? std::min(*apart, core.links[i].apart) : core.links[i].apart;
    }
  }
  return apart && may_be_kept(core, last, threshold, follows, *apart);
}

}  // namespace

// Noticed when no other job is ready it begins a busy period: so its own is later. Where a release
// may be noticed at the end of another job, only its end is known.
std::optional<nanoseconds> latest_there(const Subchains& core, std::size_t first,
                                        const std::vector<bool>& high) {
  if (core.late_notice.count() == 0) {
    return core.links[first].until_noticed;
  }
  const std::optional<nanoseconds> until = longest_until(core, first, high);
  return until ? std::optional{*until - nanoseconds{1}} : std::nullopt;
}

void find_early(Subchains& core) {
  if (std::ranges::all_of(core.links, [](const auto& link) { return link.follows == nobody; })) {
    return;
  }
  for (std::size_t i = 0; i < core.links.size(); ++i) {
    core.links[i].early = may_be_early(core, i);
  }
}

Returns::Returns(const Subchains& core, const SubchainUnit& unit, const std::vector<bool>& high)
    : places_(core.links.size(), nobody), leads_(core.links.size(), false) {
  const std::size_t unit_first = core.links[unit.last].first;
  const std::vector<bool> follows = following(core, unit.last);
  for (std::size_t i = 0; i < follows.size(); ++i) {
    if (follows[i]) {
      add(core, i, high);
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

void Returns::add(const Subchains& core, std::size_t first, const std::vector<bool>& high) {
  const SubchainLink& link = core.links[first];
  const std::optional<nanoseconds> latest = latest_there(core, first, high);
  if (latest && link.root != nullptr && link.root->period.count() > 0) {
    places_[first] = followers_.size();
    followers_.push_back({.first = first, .root = ArrivalCount{*link.root}, .latest = *latest});
  }
}

void Returns::come_at(nanoseconds after_root) noexcept {
  for (Follower& follower : followers_) {
    follower.reach = follower.latest - after_root;
  }
}

std::vector<nanoseconds> Returns::beginnings(nanoseconds busy, Effort& effort) const {
  std::vector<nanoseconds> result{nanoseconds{0}};
  if (blocks_from_ < busy) {
    result.push_back(blocks_from_);
  }
  for (const Follower& follower : followers_) {
    for (std::int64_t k = follower.before(nanoseconds{0}) + 1; effort.spend(1); ++k) {
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
    follower.earlier = follower.before(begin);
  }
}

}  // namespace takt::analysis
