// SPDX-License-Identifier: Apache-2.0
//
// The way of data through joins (docs/reference/analysis.md, eq. 21): a message waits until each
// other callback of its join has ended a job.
#include <algorithm>

#include "paths.hpp"

namespace takt::analysis {

std::optional<Paths::Gap> Paths::gap_of_ends(std::size_t callback,
                                             std::vector<bool>& entered) const {
  std::optional<Gap> least;
  for (const std::size_t stream : streams_[callback]) {
    const std::size_t root = model_.root_of(stream);
    const Stream& source = model_.streams()[root];
    const Arrivals ends = model_.ends(stream, bounds_);
    const Bound end = latency(stream);
    if (!end || ends.period.count() == 0 || source.early || may_drop_upstream(stream)) {
      continue;
    }
    const std::optional<Gap> released = gap_of_source(source, entered);
    if (!released) {
      continue;
    }
    Gap found{.between = released->between + ends.jitter - model_.demand(root).releases.jitter,
              .first = released->first + *end};
    if (streams_[callback].size() > 1) {  // others may have released it long before
      found.between = std::max(found.between, found.first);
    }
    if (!least || std::max(found.between, found.first) < std::max(least->between, least->first)) {
      least = found;
    }
  }
  return least;
}

std::optional<Paths::Gap> Paths::gap_of_source(const Stream& source,
                                               std::vector<bool>& entered) const {
  if (source.join != nobody) {
    return model_.joins()[source.join].several.empty() ? gap_of_publications(source.join, entered)
                                                       : std::nullopt;
  }
  const sched::Task& task = strategy_.tasks()[source.callback];
  if (task.kind == sched::TaskKind::timer) {
    const auto& parameters = scenario_.parameters(static_cast<sched::TaskIndex>(source.callback));
    return Gap{.between = parameters.period, .first = latest_first(source.callback)};
  }
  const application::Topic* topic = application_.find_topic(task.trigger);
  return topic != nullptr && topic->external && !source.last ? topic->external_gap : std::nullopt;
}

std::optional<Paths::Gap> Paths::gap_of_messages(std::size_t callback) const {
  std::vector<bool> entered(model_.joins().size());
  const std::size_t join = model_.join_of(callback);
  return join == nobody ? gap_of_ends(callback, entered) : gap_of_publications(join, entered);
}

// After a publication each callback ends its next job within its own gap.
std::optional<Paths::Gap> Paths::gap_of_publications(std::size_t join,
                                                     std::vector<bool>& entered) const {
  if (entered[join]) {
    return {};
  }
  entered[join] = true;
  std::optional<Gap> longest = Gap{};
  for (const std::size_t callback : model_.joins()[join].callbacks) {
    const std::optional<Gap> gap = gap_of_ends(callback, entered);
    if (!gap) {
      longest.reset();
      break;
    }
    longest->between = std::max(longest->between, gap->between);
    longest->first = std::max(longest->first, gap->first);
  }
  entered[join] = false;
  return longest;
}

Bound Paths::wait_in_join(std::size_t callback, bool always_new) const {
  const std::size_t join = model_.join_of(callback);
  std::vector<bool> entered(model_.joins().size());
  entered[join] = true;
  nanoseconds longest{0};
  for (const std::size_t other : model_.joins()[join].callbacks) {
    if (other == callback) {
      continue;
    }
    const std::optional<Gap> gap = gap_of_ends(other, entered);
    if (!gap) {
      return {};
    }
    longest = std::max({longest, gap->between, gap->first});
  }
  const std::optional<Gap> own = gap_of_ends(callback, entered);
  return always_new && own ? std::min(longest, own->between) : longest;
}

bool Paths::is_only_writer(const std::string& topic, std::size_t join) const {
  const application::Topic* declared = application_.find_topic(topic);
  if (declared != nullptr && declared->external) {
    return false;
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (contains(strategy_.tasks()[i].writes, topic) && model_.join_of(i) != join) {
      return false;
    }
  }
  return true;
}

// As extend(), after a callback of a join.
bool Paths::pass_join(Walk& walk, std::size_t callback) const {
  const sched::Task& task = strategy_.tasks()[callback];
  const auto& writes = strategy_.tasks()[walk.before].writes;
  const std::size_t join = model_.join_of(walk.before);
  const bool releases = task.kind == sched::TaskKind::message && contains(writes, task.trigger);
  const auto read = std::ranges::find_if(
      task.reads, [&](const sched::Read& one) { return contains(writes, one.topic); });
  if (!releases && read == task.reads.end()) {
    return false;
  }
  const Bound published = sum(walk.stretch, wait_in_join(walk.before, walk.direct));
  walk.latency = sum(walk.latency, published);
  walk.age = sum(walk.age, published);
  walk.join = join;
  walk.held = false;
  begin_stretch(walk, callback);
  if (releases) {
    if (may_drop(callback)) {
      walk.stretch = walk.soonest = {};
      walk.ends.clear();
      walk.lost = true;
    }
    if (!is_only_writer(task.trigger, join)) {
      walk.age = {};  // its other jobs go on with older data
    }
  } else {
    if (!is_only_writer(read->topic, join)) {
      walk.overwritten = read->topic;
    }
    std::vector<bool> entered(model_.joins().size());
    const std::optional<Gap> next = gap_of_publications(join, entered);
    walk.latency = may_drop(callback) ? Bound{} : sum(walk.latency, gap(callback, true));
    walk.age = sum(walk.age, next ? Bound{next->between} : Bound{});
    walk.direct = false;
  }
  walk.before = callback;
  return true;
}

}  // namespace takt::analysis
