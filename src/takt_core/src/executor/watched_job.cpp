// SPDX-License-Identifier: Apache-2.0
#include "watched_job.hpp"

#include <algorithm>
#include <utility>

#include "takt/os/saturating.hpp"

namespace takt::executor {
namespace {

using os::TimePoint;
using std::chrono::nanoseconds;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
[[gnu::tls_model("initial-exec")]] thread_local WatchedJob* current_job_watched = nullptr;

TimePoint time_of(std::int64_t nanoseconds_since_start) noexcept {
  return TimePoint{nanoseconds{nanoseconds_since_start}};
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): filled in its body
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

void WatchedJob::use_message(std::int64_t key) noexcept {
  for (std::size_t i = 0; i < watched_.places.size(); ++i) {
    const Watched::Place& place = watched_.places[i];
    if (place.maker != nullptr) {
      origins_[i] = std::max(origins_[i], place.maker->recent->origin(key, place.place_of_maker));
    }
  }
}

void WatchedJob::publishes(std::int64_t key) noexcept {
  if (watched_.recent) {
    watched_.recent->push(key, origins_);
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
  const auto count = [&](Limit* limit, std::uint64_t now, std::uint64_t& counted) {
    if (limit == nullptr) {
      return;
    }
    const std::uint64_t lost = now - std::exchange(counted, now);
    limit->count(lost + 1, lost);
    if (lost != 0) {
      report({.limit = limit, .subject = watched_.name, .from = job_.release}, time, handlers);
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
    report(found, time, handlers);
  }
}

void WatchedJob::report(const Found& found, TimePoint time, const Handlers& handlers) noexcept {
  if (!handlers.limit_exceeded) {
    return;
  }
  const Limit::Counts counted = found.limit->counts();
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
       .checked = counted.checked,
       .exceeded = counted.exceeded,
       .allowed = is_within(found.limit->allowed, counted.exceeded, counted.checked)});
}

void use_trigger(TimePoint sampled) noexcept {
  WatchedJob* const job = WatchedJob::current();
  if (job != nullptr && job->takes_trigger()) {
    const std::int64_t count = sampled.time_since_epoch().count();
    job->use(*job->task().trigger, count);
    job->publishes(count);
  }
}

void publish_message(std::int64_t key) noexcept {
  if (WatchedJob* const job = WatchedJob::current()) {
    job->publishes(key);
  }
}

void use_message(std::int64_t key) noexcept {
  if (WatchedJob* const job = WatchedJob::current()) {
    job->use_message(key);
  }
}

}  // namespace takt::executor
