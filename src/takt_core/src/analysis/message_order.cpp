// SPDX-License-Identifier: Apache-2.0
#include "message_order.hpp"

#include <algorithm>

namespace takt::analysis {

MessageOrder::MessageOrder(const ChainNet& net, std::span<const std::size_t> path,
                           const LaterJobs& order)
    : net_(net), path_(path), messages_(path.size()) {
  for (const std::size_t i : net.instances[path.front()]) {
    const std::size_t number = net.links[i].number;
    if (order.matches(number)) {
      messages_[order.place(number)].push_back(i);
    }
  }
}

bool MessageOrder::several() const noexcept {
  return std::ranges::any_of(messages_, [](const auto& links) { return links.size() > 1; });
}

// The next callback of the path on the same core.
std::optional<std::size_t> MessageOrder::next(std::size_t place) const {
  for (std::size_t k = place + 1; k < path_.size(); ++k) {
    if (link(k).core == link(place).core) {
      return k;
    }
  }
  return {};
}

// Whether a job at this place never waits for one of the callbacks after it: it preempts them.
bool MessageOrder::is_never_behind(std::size_t place) const {
  const ChainCore& core = net_.cores[link(place).core];
  const sched::Level level = link(place).demand->level;
  for (std::size_t k = place + 1; k < path_.size(); ++k) {
    const Demand& other = *link(k).demand;
    if (link(k).core == link(place).core &&
        (!core.by_level || other.level >= level || other.ceiling >= level)) {
      return false;
    }
  }
  return true;
}

bool MessageOrder::is_more_urgent(std::size_t place, std::size_t then) const {
  const Demand& demand = *link(place).demand;
  const Demand& other = *link(then).demand;
  return net_.cores[link(place).core].by_level ? demand.level > other.level
                                               : demand.deadline < other.deadline;
}

// Whether a job at this place starts before one at the other place that is released later.
bool MessageOrder::comes_first(std::size_t place, std::size_t then) const {
  const ChainCore& core = net_.cores[link(place).core];
  const Demand& demand = *link(place).demand;
  const Demand& other = *link(then).demand;
  return core.by_level ? demand.level >= other.level
                       : core.by_deadline && demand.deadline <= other.deadline;
}

// Whether from the start of a job to the message that it leads to some time passes.
bool MessageOrder::takes_time(std::size_t from, std::size_t to) const {
  for (std::size_t k = from; k < to; ++k) {
    if (link(k).message_after.count() > 0) {
      return true;
    }
  }
  return false;
}

// Whether all messages have come to this place before the first one comes to the next callback of
// its core. The last job of the callback before it ends before the first message starts the next
// one on that core, which is earlier.
bool MessageOrder::is_ordered(std::size_t place, bool ordered_before) const {
  const std::optional<std::size_t> then = next(place);
  if (messages_[place].size() == 1 || !then) {
    return true;
  }
  if (messages_[place - 1].size() == 1 && !link(place - 1).overlaps) {  // they come together
    return is_more_urgent(place, *then) || takes_time(place, *then);
  }
  const std::optional<std::size_t> since = next(place - 1);
  return ordered_before && since && *since < *then &&
         (is_more_urgent(place, *then) || takes_time(*since, *then));
}

// Whether all jobs at this place have ended before the first message can come to the other one.
bool MessageOrder::has_ended(std::size_t place, std::size_t then) const {
  return std::ranges::all_of(messages_[place], [&](std::size_t i) {
    return net_.latencies[i] && *net_.latencies[i] <= link(then).offset;
  });
}

bool MessageOrder::known() const {
  bool ordered = true;
  for (std::size_t place = 0; place < path_.size(); ++place) {
    const std::optional<std::size_t> then = next(place);
    const bool several = messages_[place].size() > 1;
    if (place > 0 && std::ranges::any_of(messages_[place], [&](std::size_t i) {
          return net_.links[i].demand->lag.count() > 0;
        })) {
      return false;  // noticed late, in another order
    }
    const bool ended = then && has_ended(place, *then);
    if (several && then && !ended && !comes_first(place, *then)) {
      return false;
    }
    ordered = ended || is_ordered(place, ordered);
    if (several && then && !ordered && !is_never_behind(place)) {
      return false;
    }
  }
  return true;
}

// A job starts when the one before it of its message, that of the message before, and all of the
// callback before it on its core have ended.
nanoseconds MessageOrder::longest() const {
  std::map<std::size_t, nanoseconds> ends;       // by link
  std::map<std::size_t, nanoseconds> core_ends;  // by core
  for (const std::vector<std::size_t>& messages : messages_) {
    for (const std::size_t i : messages) {
      const ChainLink& own = net_.links[i];
      nanoseconds& on_core = core_ends[own.core];
      const nanoseconds came = own.before == nobody ? nanoseconds{0} : ends[own.before];
      on_core = std::max(on_core, came) + own.demand->execution;
      ends[i] = on_core;
      if (i == path_.back()) {
        return on_core;
      }
    }
  }
  return ends[path_.back()];
}

std::int64_t MessageOrder::jobs_on(std::size_t core) const {
  std::int64_t jobs = 0;
  for (std::size_t place = 0; place < path_.size(); ++place) {
    jobs += link(place).core == core ? std::ssize(messages_[place]) : 0;
  }
  return jobs;
}

std::optional<nanoseconds> MessageOrder::due_on(std::size_t core) const {
  nanoseconds due{0};
  for (std::size_t place = 0; place < path_.size(); ++place) {
    for (const std::size_t i : messages_[place]) {
      const ChainLink& own = net_.links[i];
      const std::optional<nanoseconds> entry =
          own.before == nobody ? std::optional{nanoseconds{0}} : net_.latencies[own.before];
      if (!entry) {
        return {};
      }
      due = own.core == core ? std::max(due, *entry + own.demand->deadline) : due;
    }
  }
  return due;
}

}  // namespace takt::analysis
