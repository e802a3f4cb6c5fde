// SPDX-License-Identifier: Apache-2.0
#include "run_job.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "takt/executor/current_job.hpp"
#include "takt/os/saturating.hpp"
#include "takt/os/usage.hpp"
#include "takt/trace/current.hpp"
#include "watched_job.hpp"

namespace takt::executor {
namespace {

using os::TimePoint;
using std::chrono::nanoseconds;
using trace::EventType;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
[[gnu::tls_model("initial-exec")]] thread_local const Job* running = nullptr;
// Whether that job will have no end.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
[[gnu::tls_model("initial-exec")]] thread_local bool unfinished = false;
// What the kernel has counted of this thread.
struct Counted {
  os::ResourceUsage usage{};
  std::optional<nanoseconds> run_delay{};  // where the trace shall tell it
};
// At the end of its last job, where that was measured.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
[[gnu::tls_model("initial-exec")]] thread_local std::optional<Counted> at_last_end;

// Tells that the thread could have run and did not, before its job (`sleeps` 0) or in it.
[[gnu::noinline]] void record_wait(trace::Recorder& recorder, TimePoint time, const TaskState& task,
                                   const Job& job, const Counted& from, const Counted& to,
                                   std::int64_t sleeps) noexcept {
  if (!from.run_delay || !to.run_delay) {
    return;
  }
  const nanoseconds waited = *to.run_delay - *from.run_delay;
  if (waited >= trace::least_wait || sleeps > 1) {
    recorder.record(EventType::wait, time, task.trace_id, job.index, waited.count(),
                    trace::no_topic,
                    static_cast<std::uint8_t>(std::min<std::int64_t>(sleeps, 255)));
  }
}

// What the thread has used when its job starts, and what it did since the one before.
[[gnu::noinline]] Counted count_before(trace::Recorder& recorder, TimePoint started,
                                       const TaskState& task, const Job& job,
                                       bool traced) noexcept {
  const Counted now{.usage = os::resource_usage(os::UsageOf::thread),
                    .run_delay = traced ? os::run_delay() : std::nullopt};
  if (at_last_end) {
    recorder.record(EventType::dispatch, started, task.trace_id, job.index,
                    (now.usage.cpu_time - at_last_end->usage.cpu_time).count());
    record_wait(recorder, started, task, job, *at_last_end, now, 0);
  }
  return now;
}

// The CPU time of the job that ends.
[[gnu::noinline]] nanoseconds count_after(const Counted& before, bool traced) noexcept {
  const auto run_delay = traced ? os::run_delay() : std::nullopt;
  at_last_end = Counted{.usage = os::resource_usage(os::UsageOf::thread), .run_delay = run_delay};
  return at_last_end->usage.cpu_time - before.usage.cpu_time;
}

std::int64_t sample_time(const Topic& topic) noexcept {
  return topic.sampled.load(std::memory_order_acquire);
}

// Several tasks may read a topic: what one of them has never makes it older.
void raise_sample_time(Topic& topic, std::int64_t sampled) noexcept {
  std::int64_t present = sample_time(topic);
  while (present < sampled && !topic.sampled.compare_exchange_weak(present, sampled)) {
  }
}

// When the data that the task has of this topic was sampled: the newest that inputs of its own gave
// it, else what is in the topic.
std::int64_t sample_time_for(const TaskState& task, const Topic& topic) noexcept {
  bool is_given = false;
  std::int64_t newest = Topic::no_sample;
  for (std::size_t i = 0; i < task.input_topics.size(); ++i) {
    if (task.input_topics[i] == &topic) {
      is_given = true;
      newest = std::max(newest, task.given[i]);
    }
  }
  return is_given ? newest : sample_time(topic);
}

// When the data that this job makes was sampled: as its source says, else at its own release, or
// with the newest message of the topic that released it.
std::int64_t sampled_by(const TaskState& task, const Job& job, const Outcome& outcome) noexcept {
  if (outcome.sampled) {
    return outcome.sampled->time_since_epoch().count();
  }
  if (task.trigger != nullptr) {
    const std::int64_t sampled = sample_time(*task.trigger);
    if (sampled != Topic::no_sample) {
      return sampled;
    }
  }
  return job.release.time_since_epoch().count();
}

// Whether the topic has a limit in this scenario and the data is older; tells and counts it.
[[gnu::noinline]] void check_age(const Shared& shared, TaskState& task, const Job& job,
                                 const Target& target, trace::Recorder& recorder,
                                 TimePoint started) {
  for (const sched::AgeLimit& limit : target.limits[task.index]) {
    const std::int64_t sampled = sample_time_for(task, *limit.topic);
    const bool no_data = sampled == Topic::no_sample;
    const nanoseconds age =
        no_data ? nanoseconds::max() : os::sub_sat(started, TimePoint{nanoseconds{sampled}});
    if (!no_data) {
      task.counters.worst_age.raise_to(age.count());
    }
    if (age <= limit.max_age) {
      continue;
    }
    task.counters.age_violations.add(1);
    recorder.record(EventType::age_violation, started, task.trace_id, job.index,
                    no_data ? -1 : age.count(), limit.topic->id);
    if (shared.handlers.age_violation) {
      shared.handlers.age_violation({.task = task.index,
                                     .job = job.index,
                                     .topic = limit.topic->name,
                                     .max_age = limit.max_age,
                                     .age = age});
    }
  }
}

// Which data the job uses, as far as it is known before its callback.
[[gnu::noinline]] void watch_data(const TaskState& task, const Job& job,
                                  WatchedJob& watched) noexcept {
  for (std::size_t i = 0; i < task.input_topics.size(); ++i) {
    watched.use(*task.input_topics[i], task.given[i]);
    if (task.keys[i] != Topic::no_sample) {
      watched.use_message(task.keys[i]);
    }
  }
  if (!watched.limits_of_reads().empty()) {
    watched.starts(os::now());
    std::size_t which = 0;
    for (const Watched::OfRead& read : watched.limits_of_reads()) {
      watched.reads(which++, sample_time_for(task, *read.of.load()));
    }
  }
  watched.begins_callback();
  if (task.trigger == nullptr) {
    watched.publishes(job.release.time_since_epoch().count());
  } else if (!task.binding.source) {  // which tells itself, use_trigger()
    use_trigger(TimePoint{nanoseconds{sample_time(*task.trigger)}});
  }
}

[[gnu::noinline]] void deliver(TaskState& task, const Job& job, trace::Recorder& recorder) {
  for (std::size_t i = 0; i < task.binding.inputs.size(); ++i) {
    const Delivered delivered = task.binding.inputs[i].input->deliver_pending();
    if (delivered.sampled) {
      task.given[i] = delivered.sampled->time_since_epoch().count();
      raise_sample_time(*task.input_topics[i], task.given[i]);
    }
    if (delivered.message) {
      task.keys[i] = *delivered.message;
    }
    if (delivered.count == 0) {
      continue;
    }
    task.counters.delivered.add(delivered.count);
    if (recorder.on()) {
      const TimePoint time = os::now();
      const auto age = os::sub_sat(time, TimePoint{nanoseconds{task.given[i]}});
      recorder.record(
          EventType::deliver, time, task.trace_id, job.index,
          task.given[i] == Topic::no_sample ? -1 : age.count(), task.input_topics[i]->id,
          delivered.count < 255 ? static_cast<std::uint8_t>(delivered.count) : std::uint8_t{255});
    }
  }
}

// All that is the user's: callbacks of what the task reads, and its own.
Outcome compute(Shared& shared, TaskState& task, const Job& job, const Target& target,
                WatchedJob* watched, trace::Recorder& recorder) {
  const auto run = [&] {
    if (!task.binding.inputs.empty()) {
      deliver(task, job, recorder);
    }
    if (!target.scenario->age_constraints().empty() && !target.limits[task.index].empty()) {
      check_age(shared, task, job, target, recorder, os::now());
    }
    if (watched != nullptr) {
      watch_data(task, job, *watched);
    }
    if (task.binding.source) {
      return task.binding.source->run(job);
    }
    task.binding.callback(job);
    return Outcome{};
  };
  if (shared.options.exceptions == Exceptions::end_process) {
    return run();
  }
  try {
    return run();
  } catch (...) {
    shared.fail(std::current_exception());
    return {.sampled = {}, .published = 0};
  }
}

void stamp(const TaskState& task, const Job& job, const Outcome& outcome) noexcept {
  if (task.writes.empty() || outcome.published == 0) {
    return;
  }
  const std::int64_t sampled = sampled_by(task, job, outcome);
  for (std::size_t i = 0; i < task.writes.size(); ++i) {
    if (i >= 64 || ((outcome.published >> i) & 1U) != 0) {
      task.writes[i]->sampled.store(sampled, std::memory_order_release);
    }
  }
}

Ended run(Shared& shared, TaskState& task, const Job& job, const Target& target,
          trace::Recorder& recorder, Progress& progress, TimePoint decided,
          WatchedJob* watched) noexcept {
  TaskCounters& counters = task.counters;
  const nanoseconds budget = target.scenario->parameters(task.index).budget;
  const TimePoint started = decided != not_decided && !recorder.on() ? decided : os::now();
  recorder.record(EventType::start, started, task.trace_id, job.index, job.priority);
  const bool traced = shared.options.trace_cpu_time && recorder.on();
  const bool measured = budget.count() > 0 || traced;
  std::optional<Counted> before;
  if (measured) {
    before = count_before(recorder, started, task, job, traced);
    if (budget.count() > 0) {
      progress.start(before->usage.cpu_time);
    }
  }
  const Job* const outer = std::exchange(running, &job);
  const trace::CurrentJob current{recorder, task.trace_id, job.index};
  const Outcome outcome = compute(shared, task, job, target, watched, recorder);
  progress.end();
  stamp(task, job, outcome);
  running = outer;
  at_last_end.reset();
  const nanoseconds used = before ? count_after(*before, traced) : nanoseconds{-1};
  const TimePoint ended = os::now();
  if (before) {
    const auto slept = at_last_end->usage.voluntary_switches - before->usage.voluntary_switches;
    record_wait(recorder, ended, task, job, *before, *at_last_end, slept + 1);
  }
  if (std::exchange(unfinished, false)) [[unlikely]] {
    return {.time = ended, .used = used};
  }
  recorder.record(EventType::end, ended, task.trace_id, job.index, used.count());
  counters.completed.add(1);
  counters.worst_lateness.raise_to(os::sub_sat(started, job.release).count());
  counters.worst_response.raise_to(os::sub_sat(ended, job.release).count());
  if (budget.count() > 0) {
    counters.worst_cpu_time.raise_to(used.count());
  }
  if (watched != nullptr) {
    watched->ended(ended, shared.handlers);
  }
  return {.time = ended, .used = used};
}

[[gnu::noinline]] Ended run_watched(Shared& shared, TaskState& task, const Job& job,
                                    const Target& target, trace::Recorder& recorder,
                                    Progress& progress, TimePoint decided) noexcept {
  WatchedJob watched{task, job};  // some hundred bytes, which are not free either
  return run(shared, task, job, target, recorder, progress, decided, &watched);
}

}  // namespace

const Job* current_job() noexcept {
  return running;
}

void leave_job_unfinished() noexcept {
  unfinished = running != nullptr;
}

nanoseconds Progress::used(clockid_t clock) const noexcept {
  const std::int64_t before = cpu_before_.load(std::memory_order_relaxed);
  timespec time{};
  if (before == unknown || clock_gettime(clock, &time) != 0) {
    return nanoseconds{0};
  }
  return std::chrono::seconds{time.tv_sec} + nanoseconds{time.tv_nsec - before};
}

Ended run_job(Shared& shared, TaskState& task, const Job& job, const Target& target,
              trace::Recorder& recorder, Progress& progress, TimePoint decided) noexcept {
  if (task.watched == nullptr) {
    return run(shared, task, job, target, recorder, progress, decided, nullptr);
  }
  return run_watched(shared, task, job, target, recorder, progress, decided);
}

}  // namespace takt::executor
