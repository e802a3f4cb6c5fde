// SPDX-License-Identifier: Apache-2.0
//
// What gets lost on the way of data: releases that come to nothing, and messages that others
// overwrite before they are read. And how long one then waits for the next.
#include <algorithm>
#include <limits>
#include <utility>

#include "../application/requests.hpp"
#include "../sched/text.hpp"
#include "paths.hpp"

namespace takt::analysis {
namespace {

using sched::TaskKind;

constexpr std::int64_t uncounted = std::numeric_limits<std::int64_t>::max();

Bound later(const Bound& a, const Bound& b) {
  return a && b ? Bound{std::max(*a, *b)} : Bound{};
}

}  // namespace

// An unknown offset is less than the period that all scenarios have, unless one has its own offset.
nanoseconds Paths::latest_first(std::size_t timer) const {
  const sched::Task& task = strategy_.tasks()[timer];
  const auto& parameters = scenario_.parameters(static_cast<sched::TaskIndex>(timer));
  return task.any_offset ? std::max({parameters.offset, parameters.period, task.parameters.period})
                         : parameters.offset;
}

Bound Paths::gap(std::size_t callback, bool from_start) const {
  Bound shortest;
  for (const std::size_t stream : streams_[callback]) {
    // Of the root's first job, down to here.
    nanoseconds end{0};
    std::size_t root = stream;
    while (model_.streams()[root].parent != nobody) {
      root = model_.streams()[root].parent;
      end += bounds_.responses[root].bound.value_or(nanoseconds{0});
    }
    const Stream& source = model_.streams()[root];
    const Arrivals& releases = model_.demand(stream).releases;
    // From outside messages may stay away; so may early releases. A timer's own are there in any
    // case.
    const bool joined = source.join != nobody;
    if ((strategy_.tasks()[source.callback].kind != TaskKind::timer && !joined) || source.early ||
        releases.period.count() == 0 || (root != stream && may_drop_upstream(stream))) {
      continue;
    }
    const auto& parameters = scenario_.parameters(static_cast<sched::TaskIndex>(source.callback));
    Gap regular{.between = parameters.period};
    if (!joined) {
      regular.first = latest_first(source.callback);
    }
    if (joined) {
      std::vector<bool> entered(model_.joins().size());
      const std::optional<Gap> published = gap_of_publications(source.join, entered);
      if (!published || !model_.joins()[source.join].several.empty()) {
        continue;
      }
      regular = *published;
      regular.between -= model_.demand(root).releases.jitter;
    }
    nanoseconds longest = regular.between + releases.jitter;
    // Where several release the callback, the others may have begun long before this one.
    if (from_start || streams_[callback].size() > 1) {
      longest = std::max(longest, regular.first + end);
    }
    shortest = shortest ? std::min(*shortest, longest) : longest;
  }
  return shortest;
}

// How long after the message that comes so many later, at the earliest, a job may end; 0 or less:
// never. By its whole chain: responses alone may be too long, because they count with more
// releases.
Bound Paths::end_after_message(std::span<const std::size_t> streams, std::size_t later) const {
  if (bounds_.latencies.empty() || streams.size() != 1 ||
      model_.streams()[streams.front()].parent == nobody) {
    return {};
  }
  const std::size_t stream = streams.front();
  const Bound& end = bounds_.latencies[stream].bound;
  const Arrivals& releases = model_.demand(model_.root_of(stream)).releases;
  if (!end || releases.period.count() <= 0) {
    return {};
  }
  return *end - releases.time(static_cast<std::int64_t>(later)) - model_.offset(stream);
}

bool Paths::ends_before_message(std::size_t stream, std::size_t later) const {
  const Bound late = end_after_message(std::span{&stream, 1}, later);
  return late && late->count() <= 0;
}

// A scenario changes what is released. Which message a job takes is the callback's own: the oldest
// where it catches up, else the newest.
bool Paths::takes_each(std::size_t callback) const {
  const auto index = static_cast<sched::TaskIndex>(callback);
  const sched::Task& task = strategy_.tasks()[callback];
  return scenario_.parameters(index).overrun == sched::Overrun::catch_up &&
         (task.kind == TaskKind::timer || task.parameters.overrun == sched::Overrun::catch_up);
}

Bound Paths::until_taken(std::size_t callback) const {
  if (!application_.callbacks[callback].reentrant || streams_[callback].empty()) {
    return response(callback);
  }
  Bound longest = nanoseconds{0};
  for (const std::size_t stream : streams_[callback]) {
    const Bound& end = bounds_.responses[stream].bound;
    longest = later(longest, end ? Bound{*end - model_.demand(stream).execution} : Bound{});
  }
  return longest;
}

bool Paths::may_drop(std::size_t callback) const {
  const sched::Task& task = strategy_.tasks()[callback];
  const bool each = takes_each(callback);
  // All that comes in a busy period has ended when it ends.
  const std::size_t kept = each ? depth(task.trigger) : 1;
  const auto jobs = model_.jobs_while_busy(streams_[callback], bounds_);
  if (jobs && std::cmp_less_equal(*jobs, kept)) {
    return false;
  }
  if (each) {
    if (task.kind == TaskKind::timer) {
      return false;
    }
    if (streams_[callback].size() == 1 &&
        ends_before_message(streams_[callback].front(), depth(task.trigger))) {
      return false;
    }
    // Its job reads the message before it ends. Until then so many more may wait in the queue.
    if (application_.callbacks[callback].server && application::is_requested(task.trigger)) {
      return model_.may_lose_requests(callback, bounds_.responses);
    }
    const Bound end = until_taken(callback);
    const auto waiting =
        end ? messages(task.trigger, std::max(nanoseconds{0}, *end - nanoseconds{1}), nobody)
            : std::nullopt;
    return !waiting || std::cmp_greater(*waiting, depth(task.trigger));
  }
  // Two streams, or one with a jitter above its period, may release it twice at once.
  if (streams_[callback].size() != 1) {
    return true;
  }
  const std::size_t stream = streams_[callback].front();
  const Arrivals& releases = model_.demand(stream).releases;
  if (application_.callbacks[callback].reentrant) {  // what has passed when it starts is dropped
    const Bound start = until_taken(callback);
    return !start || *start >= releases.time(1);
  }
  const Bound& bound = bounds_.responses[stream].bound;
  return (!bound || *bound > releases.time(1)) && !ends_before_message(stream, 1);
}

// With what to change so that nothing is lost.
std::string Paths::loss_before(std::size_t callback) const {
  const sched::Task& task = strategy_.tasks()[callback];
  const bool each = takes_each(callback);
  const std::size_t kept = each ? depth(task.trigger) : 1;
  const auto in_busy_period = model_.jobs_while_busy(streams_[callback], bounds_);
  const auto in_response =
      application::is_requested(task.trigger)
          ? std::nullopt
          : messages(task.trigger,
                     std::max(nanoseconds{0}, *until_taken(callback) - nanoseconds{1}), nobody);
  const std::int64_t most =
      std::min(in_busy_period.value_or(uncounted), in_response.value_or(uncounted));
  const bool counted = most != uncounted && std::cmp_greater(most, kept);
  const std::string wanted = counted ? "a depth of " + std::to_string(most) : "more depth";
  std::string text = application::message_text(task.trigger) + " may be lost before '" + task.name +
                     "' reads it: ";
  text += counted ? "up to " + std::to_string(most) + " come " : "more of them may come ";
  text += counted && in_busy_period == most ? "in one busy period" : "within its response";
  text += each ? ", and the topic keeps " + std::to_string(kept) + ". Fix: give it " + wanted
               : ", and each job reads the newest. Fix: let it catch up (overrun: catch_up), and "
                 "give the topic " +
                     wanted;
  if (const Bound late = end_after_message(streams_[callback], kept); late && late->count() > 0) {
    text += "; or let the chain up to there end " + sched::time_text(*late) + " sooner";
  }
  return text;
}

std::string Paths::loss_on(const application::Chain& chain) const {
  for (const std::string& name : chain.callbacks) {
    if (streams_[*strategy_.find_task(name)].empty()) {
      return "'" + name + "' is never released in this scenario";
    }
  }
  for (std::size_t i = 1; i < chain.callbacks.size(); ++i) {
    const std::size_t callback = *strategy_.find_task(chain.callbacks[i]);
    const sched::Task& task = strategy_.tasks()[callback];
    if (task.kind != TaskKind::message || !response(callback) || !may_drop(callback)) {
      continue;
    }
    return loss_before(callback);
  }
  return {};
}

bool Paths::may_drop_upstream(std::size_t stream) const {
  for (; stream != nobody; stream = model_.streams()[stream].parent) {
    if (may_drop(model_.streams()[stream].callback)) {
      return true;
    }
  }
  return false;
}

std::size_t Paths::depth(const std::string& topic) const {
  const application::Topic* declared = application_.find_topic(topic);
  return declared == nullptr ? 1 : declared->depth;
}

std::optional<std::int64_t> Paths::messages(const std::string& topic, nanoseconds window,
                                            std::size_t but) const {
  std::int64_t count = 0;
  const auto add = [&](const Arrivals& published, std::int64_t messages) {
    count += published.period.count() > 0 ? messages * published.closed(window) : 0;
    return published.period.count() > 0;
  };
  for (std::size_t i = 0; i < model_.streams().size(); ++i) {
    const std::size_t writer = model_.streams()[i].callback;
    if (model_.join_of(writer) == nobody && writer != but &&
        std::ranges::count(strategy_.tasks()[writer].writes, topic) > 0 &&
        !add(model_.ends(i, bounds_), application_.callbacks[writer].messages_on(topic).most)) {
      return {};
    }
  }
  for (std::size_t join = 0; join < model_.joins().size(); ++join) {
    const std::vector<std::size_t>& callbacks = model_.joins()[join].callbacks;
    const std::size_t writer = callbacks.front();
    if (std::ranges::count(strategy_.tasks()[writer].writes, topic) == 0 ||
        std::ranges::count(callbacks, but) > 0) {
      continue;
    }
    const std::int64_t each = application_.callbacks[writer].messages_on(topic).most;
    for (const Arrivals& published : model_.publications(join, bounds_)) {
      if (!add(published, each)) {
        return {};
      }
    }
  }
  const application::Topic* declared = application_.find_topic(topic);
  if (declared != nullptr && declared->external &&
      !add({.period = declared->external_period,
            .jitter = declared->external_jitter,
            .distance = declared->external_distance},
           1)) {
    return {};
  }
  return count;
}

bool Paths::is_read(const std::string& topic, std::size_t writer, std::size_t reader) const {
  const auto others = messages(topic, nanoseconds{0}, writer);
  if (others && *others == 0) {
    return true;
  }
  // What was published since its job before started, or since the writer's message.
  const auto between = [this](std::size_t callback) {
    const Bound next = gap(callback);
    const Bound end = response(callback);
    return next && end ? Bound{*next + *end} : Bound{};
  };
  const Bound reads = may_drop(reader) ? Bound{} : between(reader);
  const Bound writes = may_drop(writer) ? Bound{} : between(writer);
  if (!reads && !writes) {
    return false;
  }
  const nanoseconds window = std::min(reads.value_or(never), writes.value_or(never));
  const auto since = messages(topic, window, writer);
  return since && std::cmp_less(*since, depth(topic));
}

}  // namespace takt::analysis
