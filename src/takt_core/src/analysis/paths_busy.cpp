// SPDX-License-Identifier: Apache-2.0
//
// Chains through the joins of one core as one path (docs/reference/analysis.md, eq. 22). When a
// busy period ends, of the core or of a level that takes the whole path, the data of each release
// within it is used, or stored in a join that is not complete. It goes on in the busy period of the
// release that leads to the last missing message.
#include <algorithm>

#include "methods.hpp"
#include "overtaking.hpp"
#include "paths.hpp"

namespace takt::analysis {
namespace {

bool take_less(Bound& result, const Bound& other) {
  if (!other || (result && *result <= *other)) {
    return false;
  }
  result = other;
  return true;
}

// The later one of both; nothing if one of them has no bound.
Bound later(const Bound& one, const Bound& other) {
  return one && other ? Bound{std::max(*one, *other)} : Bound{};
}

}  // namespace

Bound Paths::busy(std::size_t callback) const {
  Bound longest = nanoseconds{0};
  for (const std::size_t stream : streams_[callback]) {
    longest = later(longest, bounds_.busy.empty() ? Bound{} : bounds_.busy[stream]);
  }
  return streams_[callback].empty() ? Bound{} : longest;
}

Bound Paths::busy_of_join(std::size_t join) const {
  Bound longest = nanoseconds{0};
  for (const std::size_t callback : model_.joins()[join].callbacks) {
    longest = later(longest, busy(callback));
  }
  return longest;
}

bool Paths::stays_on_core(std::size_t stream) const {
  const std::size_t core = model_.core_of(stream);
  for (std::size_t i = stream; i != nobody; i = model_.streams()[i].parent) {
    if (model_.core_of(i) != core || model_.demand(i).lag.count() > 0 ||
        model_.streams()[i].early) {
      return false;
    }
  }
  return true;
}

std::optional<Cause> Paths::next_cause(std::size_t callback, std::vector<bool>& entered) const {
  std::vector<Cause> all;
  for (const std::size_t stream : streams_[callback]) {
    if (!stays_on_core(stream) || may_drop_upstream(stream)) {
      continue;
    }
    const Stream& source = model_.streams()[model_.root_of(stream)];
    if (source.join == nobody) {
      if (const std::optional<Gap> released = gap_of_source(source, entered)) {
        const sched::Task& task = strategy_.tasks()[source.callback];
        const bool timer = task.kind == sched::TaskKind::timer && !task.any_offset;
        all.push_back(timer ? Cause::timer(released->between, released->first)
                            : Cause::within(std::max(released->between, released->first)));
      }
      continue;
    }
    const JoinModel& join = model_.joins()[source.join];
    if (!join.several.empty() || entered[source.join]) {
      continue;
    }
    entered[source.join] = true;
    if (auto published = next_causes(source.join, model_.core_of(stream), nobody, entered)) {
      all.push_back(std::move(*published));
    }
    entered[source.join] = false;
  }
  return all.empty() ? std::nullopt : std::optional{Cause::first(std::move(all))};
}

std::optional<Cause> Paths::next_causes(std::size_t join, std::size_t core, std::size_t but,
                                        std::vector<bool>& entered) const {
  std::vector<Cause> all;
  for (const std::size_t callback : model_.joins()[join].callbacks) {
    if (callback == but) {
      continue;
    }
    const bool here = std::ranges::all_of(
        streams_[callback], [&](std::size_t stream) { return model_.core_of(stream) == core; });
    auto next = here ? next_cause(callback, entered) : std::nullopt;
    if (!next) {
      return {};
    }
    all.push_back(std::move(*next));
  }
  return Cause::last(std::move(all));
}

std::optional<Paths::CommonTimer> Paths::common_timer(std::size_t join, std::size_t core,
                                                      std::vector<bool>& entered) const {
  if (entered[join] || strategy_.scenarios().size() > 1) {
    return {};
  }
  const Bound busy = busy_of_join(join);
  entered[join] = true;
  std::optional<CommonTimer> common;
  bool alike = busy.has_value();
  for (const std::size_t callback : model_.joins()[join].callbacks) {
    if (!alike || streams_[callback].size() != 1) {
      alike = false;
      break;
    }
    const std::size_t stream = streams_[callback].front();
    const Stream& source = model_.streams()[model_.root_of(stream)];
    std::optional<CommonTimer> own;
    if (model_.core_of(stream) == core && stays_on_core(stream) && !may_drop_upstream(stream)) {
      if (source.join != nobody) {
        own = common_timer(source.join, core, entered);
      } else if (strategy_.tasks()[source.callback].kind == sched::TaskKind::timer) {
        own = {.timer = source.callback, .gap = *gap_of_source(source, entered), .one_timer = true};
      }
    }
    alike = own && *busy <= own->gap.between;
    if (!alike) {
      break;
    }
    if (common && common->timer != own->timer) {
      alike = keeps_offset(common->timer) && keeps_offset(own->timer) && common->gap == own->gap;
      own->one_timer = false;
    }
    own->one_timer = own->one_timer && (!common || common->one_timer);
    common = own;
  }
  entered[join] = false;
  return alike ? common : std::nullopt;
}

// False: no bound.
bool Paths::add_hop(BusyPath& path, std::size_t callback, bool always_new) const {
  const std::size_t core = model_.core_of(streams_[callback].front());
  const std::size_t join = model_.join_of(callback);
  std::vector<bool> entered(model_.joins().size());
  const std::optional<CommonTimer> common = common_timer(join, core, entered);
  entered[join] = true;
  std::optional<Cause> others = next_causes(join, core, callback, entered);
  path.busy = later(path.busy, busy_of_join(join));
  if (others) {
    path.hops.push_back({.others = std::move(*others),
                         .own = always_new ? next_cause(callback, entered) : std::nullopt,
                         .together = common.has_value(),
                         .one_timer = common && common->one_timer});
  }
  return others && path.busy;
}

bool Paths::keeps_offset(std::size_t timer) const {
  return strategy_.scenarios().size() == 1 && !is_of_rclcpp(model_.test()) &&
         !strategy_.tasks()[timer].any_offset;
}

// For data that is released then. A cause is a release in whose busy period something has come
// about, or before: that this data is published, or has been replaced; that newer data has come to
// the path's callback of the join (`newer`); that this or newer data is published (`fresh`).
void Paths::follow_busy_path(BusyPath& path, nanoseconds released, nanoseconds busy, bool phased) {
  nanoseconds published = released;
  nanoseconds fresh = released;
  Bound newer;
  for (const BusyPath::Hop& hop : path.hops) {
    const auto after = [&](const Cause& cause, nanoseconds time) {
      return cause.after(time + busy, phased);
    };
    if (&hop == &path.hops.front() && hop.own) {
      newer = hop.own->after(released, phased);  // of the same timer: it comes later
    }
    if ((phased ? hop.together : hop.one_timer) && published == released) {
      continue;
    }
    nanoseconds next = after(hop.others, published);
    if (hop.own) {
      next = std::min(next, after(*hop.own, published));
    }
    published = std::min(next, newer.value_or(next));
    if (newer) {
      newer = after(hop.others, *newer);
    }
    if (hop.own) {
      take_less(newer, std::max(after(hop.others, published), after(*hop.own, published)));
    }
    fresh = after(hop.others, fresh);
  }
  path.latency = std::max(path.latency, published + busy - released);
  path.reaction = std::max(path.reaction, fresh + busy - released);
}

void Paths::bound_busy_path(BusyPath& path, std::size_t first) const {
  constexpr std::int64_t most_releases = 1000;
  const nanoseconds busy = *path.busy;
  const auto& parameters = scenario_.parameters(static_cast<sched::TaskIndex>(first));
  follow_busy_path(path, nanoseconds{0}, busy, false);
  if (strategy_.tasks()[first].kind == sched::TaskKind::timer && keeps_offset(first)) {
    nanoseconds period = parameters.period;
    nanoseconds offset = parameters.offset;
    const nanoseconds most = most_releases * parameters.period;
    if (std::ranges::all_of(path.hops, [&](const BusyPath::Hop& hop) {
          return hop.others.repeat(period, offset, most) &&
                 (!hop.own || hop.own->repeat(period, offset, most));
        })) {
      BusyPath phased{.hops = path.hops};
      for (nanoseconds at = parameters.offset; at < offset + period; at += parameters.period) {
        follow_busy_path(phased, at, busy, true);
      }
      path.offsets = phased.latency < path.latency || phased.reaction < path.reaction;
      path.latency = std::min(path.latency, phased.latency);
      path.reaction = std::min(path.reaction, phased.reaction);
    }
  }
}

std::optional<Paths::BusyPath> Paths::busy_path(const application::Chain& chain) const {
  std::size_t before = *strategy_.find_task(chain.callbacks.front());
  BusyPath path{.busy = busy(before)};
  if (!path.busy || replaces_newer(application_, chain)) {  // what replaces data has to be newer
    return {};
  }
  const std::size_t core = model_.core_of(streams_[before].front());
  const auto is_here = [&](std::size_t stream) {
    return model_.core_of(stream) == core && model_.demand(stream).lag.count() == 0 &&
           !model_.streams()[stream].early;
  };
  if (!std::ranges::all_of(streams_[before], is_here)) {
    return {};
  }
  const std::size_t first = before;
  bool direct = !chain.goes_on;
  for (std::size_t i = 1; i < chain.callbacks.size(); ++i) {
    const std::size_t callback = *strategy_.find_task(chain.callbacks[i]);
    const sched::Task& task = strategy_.tasks()[callback];
    direct = direct && streams_[before].size() == 1;
    const bool joined = model_.join_of(before) != nobody;
    if (task.kind != sched::TaskKind::message ||
        std::ranges::count(strategy_.tasks()[before].writes, task.trigger) == 0 ||
        streams_[callback].empty() || !std::ranges::all_of(streams_[callback], is_here) ||
        may_drop(callback) || (joined && !add_hop(path, before, direct))) {
      return {};
    }
    path.busy = later(path.busy, busy(callback));
    if (!path.busy) {
      return {};
    }
    path.held = path.held || (joined ? !is_only_writer(task.trigger, model_.join_of(before))
                                     : is_released_by_others(callback, before));
    before = callback;
  }
  direct = direct && streams_[before].size() == 1;
  if (chain.published && !add_hop(path, before, direct)) {
    return {};
  }
  path.fresh = direct && !may_drop(first);
  bound_busy_path(path, first);
  return path;
}

void Paths::take_busy_path(const application::Chain& chain, ChainReport& report) const {
  const std::optional<BusyPath> path = busy_path(chain);
  if (!path) {
    return;
  }
  const bool latency = take_less(report.latency, path->latency);
  const bool age = !path->held && take_less(report.age, path->latency);
  const Bound next = gap(*strategy_.find_task(chain.callbacks.front()));
  const bool reaction = path->fresh && next && take_less(report.reaction, path->reaction + *next);
  if (path->offsets && (latency || age || reaction)) {
    report.bound_by = methods::busy_path_offsets;
  } else if (latency) {
    report.bound_by = methods::busy_path;
  }
}

}  // namespace takt::analysis
