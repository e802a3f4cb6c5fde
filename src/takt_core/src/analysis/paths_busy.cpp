// SPDX-License-Identifier: Apache-2.0
//
// Chains through the joins of one core as one path (docs/reference/analysis.md, eq. 22). When a
// busy period ends, the data of each release within it is used, or stored in a join that is not
// complete. It goes on in the busy period of the release that leads to the last missing message.
#include <algorithm>

#include "methods.hpp"
#include "paths.hpp"

namespace takt::analysis {
namespace {

using Bound = std::optional<nanoseconds>;

bool take_less(Bound& result, const Bound& other) {
  if (!other || (result && *result <= *other)) {
    return false;
  }
  result = other;
  return true;
}

}  // namespace

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

Bound Paths::next_cause(std::size_t callback, std::vector<bool>& entered) const {
  Bound least;
  for (const std::size_t stream : streams_[callback]) {
    if (!stays_on_core(stream) || may_drop_upstream(stream)) {
      continue;
    }
    const Stream& source = model_.streams()[model_.root_of(stream)];
    if (source.join == nobody) {
      const std::optional<Gap> released = gap_of_source(source, entered);
      take_less(least,
                released ? Bound{std::max(released->between, released->first)} : std::nullopt);
      continue;
    }
    const JoinModel& join = model_.joins()[source.join];
    if (!join.several.empty() || entered[source.join]) {
      continue;
    }
    entered[source.join] = true;
    take_less(least, next_causes(source.join, model_.core_of(stream), nobody, entered));
    entered[source.join] = false;
  }
  return least;
}

Bound Paths::next_causes(std::size_t join, std::size_t core, std::size_t but,
                         std::vector<bool>& entered) const {
  Bound longest = nanoseconds{0};
  for (const std::size_t callback : model_.joins()[join].callbacks) {
    if (callback == but) {
      continue;
    }
    const bool here = std::ranges::all_of(
        streams_[callback], [&](std::size_t stream) { return model_.core_of(stream) == core; });
    const Bound next = here ? next_cause(callback, entered) : std::nullopt;
    longest = next && longest ? Bound{std::max(*next, *longest)} : Bound{};
  }
  return longest;
}

// Stored in a join until the next message of each other callback. False: no bound.
bool Paths::wait_while_idle(BusyPath& path, std::size_t callback, bool always_new) const {
  const std::size_t core = model_.core_of(streams_[callback].front());
  const std::size_t join = model_.join_of(callback);
  std::vector<bool> entered(model_.joins().size());
  entered[join] = true;
  const Bound longest = next_causes(join, core, callback, entered);
  if (!longest) {
    return false;
  }
  const nanoseconds busy = *bounds_.busy[core];
  if (path.fresh) {
    *path.fresh += *longest + busy;
  }
  const Bound own = always_new ? next_cause(callback, entered) : std::nullopt;
  const nanoseconds next = std::min(*longest, own.value_or(*longest));
  path.latency += next + busy;
  // At the first join the next data of its own callback counts from the release of this data, not
  // from the end of its busy period.
  if (!path.joined && own) {
    path.latency = std::min(path.latency, *own + busy);
  }
  path.joined = true;
  return true;
}

std::optional<Paths::BusyPath> Paths::busy_path(const application::Chain& chain) const {
  std::size_t before = *strategy_.find_task(chain.callbacks.front());
  if (streams_[before].empty() || bounds_.busy.empty()) {
    return {};
  }
  const std::size_t core = model_.core_of(streams_[before].front());
  const auto is_here = [&](std::size_t stream) {
    return model_.core_of(stream) == core && model_.demand(stream).lag.count() == 0 &&
           !model_.streams()[stream].early;
  };
  if (!bounds_.busy[core] || !std::ranges::all_of(streams_[before], is_here)) {
    return {};
  }
  BusyPath path{.latency = *bounds_.busy[core],
                .fresh = may_drop(before) ? Bound{} : bounds_.busy[core]};
  bool direct = !chain.goes_on;
  for (std::size_t i = 1; i < chain.callbacks.size(); ++i) {
    const std::size_t callback = *strategy_.find_task(chain.callbacks[i]);
    const sched::Task& task = strategy_.tasks()[callback];
    direct = direct && streams_[before].size() == 1;
    const bool joined = model_.join_of(before) != nobody;
    if (task.kind != sched::TaskKind::message ||
        std::ranges::count(strategy_.tasks()[before].writes, task.trigger) == 0 ||
        streams_[callback].empty() || !std::ranges::all_of(streams_[callback], is_here) ||
        may_drop(callback) || (joined && !wait_while_idle(path, before, direct))) {
      return {};
    }
    path.held = path.held || (joined ? !is_only_writer(task.trigger, model_.join_of(before))
                                     : is_released_by_others(callback, before));
    before = callback;
  }
  direct = direct && streams_[before].size() == 1;
  if (chain.published && !wait_while_idle(path, before, direct)) {
    return {};
  }
  path.fresh = direct ? path.fresh : Bound{};
  return path;
}

void Paths::take_busy_path(const application::Chain& chain, ChainReport& report) const {
  const std::optional<BusyPath> path = busy_path(chain);
  if (!path) {
    return;
  }
  if (take_less(report.latency, path->latency)) {
    report.bound_by = methods::busy_path;
  }
  if (!path->held) {
    take_less(report.age, path->latency);
  }
  const Bound next = gap(*strategy_.find_task(chain.callbacks.front()));
  if (path->fresh && next) {
    take_less(report.reaction, *path->fresh + *next);
  }
}

}  // namespace takt::analysis
