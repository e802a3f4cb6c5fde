// SPDX-License-Identifier: Apache-2.0
#include "monitor.hpp"

#include <algorithm>

#include "takt/sched/error.hpp"

namespace takt::executor {
namespace {

using sched::ScheduleError;
using std::chrono::nanoseconds;

void check_share(const std::string& where, double share) {
  if (!(share >= 0 && share <= 1)) {
    throw ScheduleError(where, "its share " + std::to_string(share) + " is outside of 0..1",
                        "give the share that may exceed the limit, such as 0.01");
  }
}

void check_time(const std::string& where, nanoseconds time) {
  if (time.count() < 0 || time > sched::longest_time) {
    throw ScheduleError(where, "its limit is below 0 or longer than 100 years",
                        "give the largest value that is in order");
  }
}

}  // namespace

Monitor::Monitor(const Limits& limits) : allow_absent_tasks_{limits.allow_absent_tasks} {
  for (const CallbackLimits& each : limits.callbacks) {
    add(each);
  }
  for (const ReadLimits& each : limits.reads) {
    add(each);
  }
  for (const ChainLimits& each : limits.chains) {
    add(each);
  }
  for (auto& [name, watched] : callbacks_) {
    if (std::ranges::any_of(watched.places, [](const auto& place) { return !place.last; })) {
      watched.recent = std::make_unique<RecentJobs>(watched.places.size());
    }
  }
}

Watched& Monitor::of(const std::string& callback) {
  return callbacks_.try_emplace(callback, callback).first->second;
}

void Monitor::add(const CallbackLimits& limits) {
  const std::string where = "the limits of callback '" + limits.callback + "'";
  check_time(where, limits.response);
  Watched& watched = of(limits.callback);
  if (watched.response) {
    throw ScheduleError(where, "there are two of them", "leave one out");
  }
  const auto share_of = [&](Quantity quantity, double share) {
    check_share(where, share);
    return std::make_unique<Limit>(
        quantity, quantity == Quantity::response ? limits.response : nanoseconds{0}, share);
  };
  watched.response = share_of(Quantity::response, limits.late);
  if (limits.skipped) {
    watched.skipped = share_of(Quantity::skipped, *limits.skipped);
  }
  if (limits.dropped) {
    watched.dropped = share_of(Quantity::dropped, *limits.dropped);
  }
}

void Monitor::add(const ReadLimits& limits) {
  const std::string where =
      "the limit of topic '" + limits.topic + "' in callback '" + limits.callback + "'";
  check_time(where, limits.age);
  check_share(where, limits.late);
  if (limits.age.count() == 0) {
    throw ScheduleError(where, "it has no age", "give the oldest age that is in order");
  }
  Watched& watched = of(limits.callback);
  if (std::ranges::any_of(watched.reads,
                          [&](const auto& read) { return read.topic == limits.topic; })) {
    throw ScheduleError(where, "there are two of them", "leave one out");
  }
  if (watched.reads.size() == most_places) {
    throw ScheduleError(where, "it is one of more than " + std::to_string(most_places),
                        "limit the topics that matter most");
  }
  watched.reads.emplace_back(limits.topic, limits.age, limits.late);
}

void Monitor::add(const ChainLimits& limits) {
  const std::string where = "the limits of chain '" + limits.chain + "'";
  check_time(where, limits.latency);
  check_time(where, limits.age);
  check_share(where, limits.late);
  if (limits.callbacks.empty() || (limits.latency.count() == 0 && limits.age.count() == 0)) {
    throw ScheduleError(where, limits.callbacks.empty() ? "it has no callbacks" : "it has no limit",
                        "give the callbacks along it, and a latency or an age");
  }
  if (std::ranges::any_of(chains_, [&](const auto& one) { return one.name == limits.chain; })) {
    throw ScheduleError(where, "there are two of them", "give each chain a name of its own");
  }
  WatchedChain& chain = chains_.emplace_back(limits);
  Watched::Place before{};
  for (std::size_t i = 0; i < limits.callbacks.size(); ++i) {
    Watched& watched = of(limits.callbacks[i]);
    if (watched.places.size() == most_places) {
      throw ScheduleError(where,
                          "callback '" + watched.name + "' has more than " +
                              std::to_string(most_places) + " places in chains",
                          "limit the chains that matter most");
    }
    watched.places.push_back({.chain = &chain,
                              .last = i + 1 == limits.callbacks.size(),
                              .maker = before.maker,
                              .place_of_maker = before.place_of_maker});
    before = {.maker = &watched, .place_of_maker = watched.places.size() - 1};
  }
}

void Monitor::check_names(const std::map<std::string, TaskIndex, std::less<>>& tasks) const {
  if (allow_absent_tasks_) {
    return;
  }
  for (const auto& [name, watched] : callbacks_) {
    if (!tasks.contains(name)) {
      throw ScheduleError("the limits of callback '" + name + "'", "no task has that name",
                          "name a task as it was named when it was added, or set "
                          "allow_absent_tasks if it comes later");
    }
  }
}

Watched* Monitor::find(std::string_view callback) noexcept {
  const auto found = callbacks_.find(callback);
  return found == callbacks_.end() ? nullptr : &found->second;
}

std::vector<LimitStatistics> Monitor::statistics() const {
  std::vector<LimitStatistics> all;
  const auto add_one = [&](const Limit& limit, const std::string& subject,
                           const std::string& topic = {}) -> LimitStatistics& {
    LimitStatistics& entry = all.emplace_back(limit.statistics());
    entry.subject = subject;
    entry.topic = topic;
    return entry;
  };
  for (const auto& [name, watched] : callbacks_) {
    for (const auto* const limit : {&watched.response, &watched.skipped, &watched.dropped}) {
      if (*limit) {
        add_one(**limit, name);
      }
    }
    for (const Watched::OfRead& read : watched.reads) {
      add_one(read.limit, name, read.topic);
    }
  }
  for (const WatchedChain& chain : chains_) {
    for (const Limit* const limit : {&chain.latency, &chain.age}) {
      if (limit->limit.count() > 0) {
        add_one(*limit, chain.name).begun = chain.begun.load(std::memory_order_relaxed);
      }
    }
  }
  return all;
}

}  // namespace takt::executor
