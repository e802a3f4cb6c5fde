// SPDX-License-Identifier: Apache-2.0
#include "monitor.hpp"

#include <algorithm>
#include <utility>

#include "takt/os/saturating.hpp"
#include "takt/sched/error.hpp"

namespace takt::executor {
namespace {

using os::TimePoint;
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

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
thread_local WatchedJob* current_job_watched = nullptr;

TimePoint time_of(std::int64_t nanoseconds_since_start) noexcept {
  return TimePoint{nanoseconds{nanoseconds_since_start}};
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
      throw ScheduleError("the limits of callback '" + name + "'", "there is no such task",
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
    LimitStatistics& seen = all.emplace_back(limit.statistics());
    seen.subject = subject;
    seen.topic = topic;
    return seen;
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

WatchedJob::WatchedJob(TaskState& task, const Job& job) noexcept
    : task_{task},
      watched_{*task.watched},
      job_{job},
      outer_{std::exchange(current_job_watched, this)} {
  origins_.fill(no_origin);
  sampled_.fill(Topic::no_sample);
  for (std::size_t i = 0; i < watched_.places.size(); ++i) {
    if (watched_.places[i].maker == nullptr) {
      origins_[i] = job.release.time_since_epoch().count();
    }
  }
}

WatchedJob::~WatchedJob() {
  current_job_watched = outer_;
}

WatchedJob* WatchedJob::current() noexcept {
  return current_job_watched;
}

void WatchedJob::use(const Topic& topic, std::int64_t sampled) noexcept {
  if (sampled == Topic::no_sample) {
    return;
  }
  for (std::size_t i = 0; i < watched_.places.size(); ++i) {
    const Watched::Place& place = watched_.places[i];
    if (place.maker != nullptr && place.maker->writes.has(topic.id)) {
      origins_[i] =
          std::max(origins_[i], place.maker->recent->origin(sampled, place.place_of_maker));
    }
  }
}

void WatchedJob::publishes(std::int64_t sampled) noexcept {
  if (watched_.recent) {
    watched_.recent->push(sampled, origins_);
  }
}

void WatchedJob::ended(TimePoint time, const Handlers& handlers) noexcept {
  if (watched_.response) {
    const nanoseconds own = watched_.response->limit;
    const bool has_limit = own.count() > 0 || job_.deadline != TimePoint::max();
    if (has_limit) {
      judge({.limit = watched_.response.get(),
             .subject = watched_.name,
             .most = own.count() > 0 ? own : os::sub_sat(job_.deadline, job_.release),
             .value = os::sub_sat(time, job_.release),
             .from = job_.release},
            time, handlers);
    }
  }
  count_losses(time, handlers);
  for (std::size_t i = 0; i < watched_.reads.size(); ++i) {
    if (sampled_[i] == Topic::no_sample) {
      continue;  // it had no data: that is no age
    }
    Watched::OfRead& read = watched_.reads[i];
    judge({.limit = &read.limit,
           .subject = watched_.name,
           .topic = read.topic,
           .most = read.limit.limit,
           .value = os::sub_sat(started_, time_of(sampled_[i])),
           .from = time_of(sampled_[i])},
          time, handlers);
  }
  for (std::size_t i = 0; i < watched_.places.size(); ++i) {
    const Watched::Place& place = watched_.places[i];
    if (place.maker == nullptr) {
      place.chain->begun.fetch_add(1, std::memory_order_relaxed);
    }
    if (place.last && origins_[i] != no_origin) {
      arrive(place, origins_[i], time, handlers);
    }
  }
}

// As trace::Flows::arrive().
void WatchedJob::arrive(const Watched::Place& place, std::int64_t origin, TimePoint time,
                        const Handlers& handlers) noexcept {
  WatchedChain& chain = *place.chain;
  Found found{.limit = &chain.age,
              .subject = chain.name,
              .most = chain.age.limit,
              .value = os::sub_sat(time, time_of(origin)),
              .from = time_of(origin)};
  if (chain.age.limit.count() > 0) {
    judge(found, time, handlers);
  }
  const std::int64_t newest = chain.newest.load(std::memory_order_relaxed);
  if (newest != no_origin && origin <= newest) {
    return;
  }
  chain.newest.store(origin, std::memory_order_relaxed);
  if (chain.latency.limit.count() > 0) {
    found.limit = &chain.latency;
    found.most = chain.latency.limit;
    judge(found, time, handlers);
  }
}

// Since the job before: counted where they happened.
void WatchedJob::count_losses(TimePoint time, const Handlers& handlers) noexcept {
  const auto count = [&](Limit* limit, std::uint64_t now, std::uint64_t& seen) {
    if (limit == nullptr) {
      return;
    }
    const std::uint64_t lost = now - std::exchange(seen, now);
    limit->count(lost + 1, lost);
    if (lost != 0) {
      tell({.limit = limit, .subject = watched_.name, .from = job_.release}, time, handlers);
    }
  };
  count(watched_.skipped.get(), task_.counters.skipped.get(), task_.skips_watched);
  count(watched_.dropped.get(), task_.counters.lost_arrivals.load(std::memory_order_relaxed),
        task_.losses_watched);
}

void WatchedJob::judge(const Found& found, TimePoint time, const Handlers& handlers) noexcept {
  const bool above = found.value > found.most;
  found.limit->count(1, above ? 1 : 0);
  found.limit->raise_worst_to(found.value);
  if (above) {
    tell(found, time, handlers);
  }
}

void WatchedJob::tell(const Found& found, TimePoint time, const Handlers& handlers) noexcept {
  if (!handlers.limit_exceeded) {
    return;
  }
  const Limit::Counts seen = found.limit->counts();
  handlers.limit_exceeded(
      {.task = task_.index,
       .job = job_.index,
       .subject = found.subject,
       .topic = found.topic,
       .quantity = found.limit->quantity,
       .limit = found.most,
       .value = found.value,
       .from = found.from,
       .ended = time,
       .checked = seen.checked,
       .exceeded = seen.exceeded,
       .allowed = is_within(found.limit->allowed, seen.exceeded, seen.checked)});
}

void use_trigger(TimePoint sampled) noexcept {
  WatchedJob* const job = WatchedJob::current();
  if (job != nullptr && job->takes_trigger()) {
    const std::int64_t count = sampled.time_since_epoch().count();
    job->use(*job->task().trigger, count);
    job->publishes(count);
  }
}

}  // namespace takt::executor
