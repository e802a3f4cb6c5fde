// SPDX-License-Identifier: Apache-2.0
//
// How old data is that a join publishes (docs/reference/analysis.md, eq. 24): the oldest of its
// messages counts, and the data is used until the next publication.
#include <algorithm>

#include "methods.hpp"
#include "paths.hpp"

namespace takt::analysis {

Bound Paths::age_at_end(std::size_t stream, Publication which, std::vector<bool>& entered) const {
  const Stream& source = model_.streams()[model_.root_of(stream)];
  if (source.join == nobody) {
    return way(stream);
  }
  return may_drop_upstream(stream) || !model_.joins()[source.join].several.empty()
             ? Bound{}
             : sum(age_of_publication(source.join, which, entered), latency(stream));
}

Bound Paths::longest_gap(std::size_t join, std::size_t but) const {
  std::vector<bool> entered(model_.joins().size());
  entered[join] = true;
  Bound longest = nanoseconds{0};
  for (const std::size_t callback : model_.joins()[join].callbacks) {
    const std::optional<Gap> gap =
        callback == but ? std::optional<Gap>{Gap{}} : gap_of_ends(callback, entered);
    longest = gap && longest ? Bound{std::max(gap->between, *longest)} : Bound{};
  }
  return longest;
}

// A stored message that is published waited for the first of two: each other callback has ended a
// job, and its own one ends the next. Until the next publication, each ends one more.
Bound Paths::age_of_publication(std::size_t join, Publication which,
                                std::vector<bool>& entered) const {
  if (entered[join]) {
    return {};
  }
  entered[join] = true;
  Bound longest = nanoseconds{0};
  for (const std::size_t callback : model_.joins()[join].callbacks) {
    for (const std::size_t stream : streams_[callback]) {
      const Bound until = age_of_stored(callback, stream, which, entered);
      longest = until && longest ? Bound{std::max(*until, *longest)} : Bound{};
    }
  }
  entered[join] = false;
  return longest;
}

Bound Paths::age_of_stored(std::size_t callback, std::size_t stream, Publication which,
                           std::vector<bool>& entered) const {
  std::vector<bool> looked_at(model_.joins().size());
  const Bound data = age_at_end(stream, Publication::own, entered);
  Bound until = sum(data, wait_in_join(callback, true));
  // The next one's data is sampled, or published, so much later, and takes no longer.
  const std::optional<Gap> later =
      streams_[callback].size() == 1
          ? gap_of_source(model_.streams()[model_.root_of(stream)], looked_at)
          : std::nullopt;
  const Bound own = later ? sum(data, later->between) : Bound{};
  until = until && own ? std::min(until, own) : until;
  if (which == Publication::next) {
    const Bound others = sum(until, longest_gap(model_.join_of(callback), own ? callback : nobody));
    until = others && own ? std::max(others, own) : others;
  }
  return until;
}

Bound Paths::cause_of_end(std::size_t stream, std::size_t core, Publication which,
                          std::vector<bool>& entered) const {
  const Stream& source = model_.streams()[model_.root_of(stream)];
  if (model_.core_of(stream) != core || !stays_on_core(stream) || may_drop_upstream(stream)) {
    return {};
  }
  if (source.join != nobody) {
    return model_.joins()[source.join].several.empty()
               ? cause_of_publication(source.join, core, which, entered)
               : Bound{};
  }
  return strategy_.tasks()[source.callback].kind == sched::TaskKind::timer ? Bound{nanoseconds{0}}
                                                                           : Bound{};
}

Bound Paths::cause_of_publication(std::size_t join, std::size_t core, Publication which,
                                  std::vector<bool>& entered) const {
  if (entered[join]) {
    return {};
  }
  const Bound known = busy_of_join(join);
  if (!known) {
    return {};
  }
  entered[join] = true;
  const nanoseconds busy = *known;
  Bound latest = nanoseconds{0};
  for (const std::size_t callback : model_.joins()[join].callbacks) {
    std::vector<bool> looked_at(model_.joins().size());
    looked_at[join] = true;
    const std::optional<Cause> others = next_causes(join, core, callback, looked_at);
    const std::optional<Cause> next = next_cause(callback, looked_at);
    for (const std::size_t stream : streams_[callback]) {
      const Bound data = cause_of_end(stream, core, Publication::own, entered);
      if (!data || !others || !next) {
        latest.reset();
        break;
      }
      // Messages of one timer come in order: then the next one counts from the sampling.
      const bool in_order =
          streams_[callback].size() == 1 && model_.streams()[model_.root_of(stream)].join == nobody;
      const nanoseconds own = in_order ? next->longest() : *data + busy + next->longest();
      nanoseconds cause = std::min(own, *data + busy + others->longest());
      if (which == Publication::next) {
        cause = std::max(own, cause + busy + others->longest());
      }
      latest = latest ? Bound{std::max(*latest, cause)} : Bound{};
    }
  }
  entered[join] = false;
  return latest;
}

Paths::JoinedAge Paths::joined_age(std::size_t join, std::size_t stream) const {
  std::vector<bool> entered(model_.joins().size());
  JoinedAge result{.age = stream == nobody ? age_of_publication(join, Publication::next, entered)
                                           : age_at_end(stream, Publication::next, entered),
                   .by = methods::age_joined};
  const std::size_t first = model_.joins()[join].callbacks.front();
  const Bound until_join = busy_of_join(join);
  const Bound until_end = stream == nobody ? until_join : busy(model_.streams()[stream].callback);
  if (!until_join || !until_end) {
    return result;
  }
  const std::size_t core = model_.core_of(streams_[first].front());
  entered.assign(entered.size(), false);
  const Bound age =
      sum(stream == nobody ? cause_of_publication(join, core, Publication::next, entered)
                           : cause_of_end(stream, core, Publication::next, entered),
          std::max(*until_join, *until_end));
  if (age && (!result.age || *age < *result.age)) {
    result = {.age = age, .by = methods::age_joined_busy};
  }
  return result;
}

}  // namespace takt::analysis
