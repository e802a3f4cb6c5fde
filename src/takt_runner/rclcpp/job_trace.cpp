// SPDX-License-Identifier: Apache-2.0
#include "job_trace.hpp"

#include <algorithm>
#include <stdexcept>

#include "own_trace.hpp"
#include "work.hpp"

namespace takt::runner {

using trace::EventType;

JobTrace::JobTrace(const std::filesystem::path& file, const std::string& policy,
                   const std::vector<std::pair<std::string, std::string>>& attributes)
    : tracer_{file, {.ring_capacity = trace_capacity}} {
  if (!policy.empty()) {
    tracer_.writer().attribute("policy", policy);
  }
  for (const auto& [key, value] : attributes) {
    tracer_.writer().attribute(key, value);
  }
}

std::uint16_t JobTrace::add_task(const std::string& name) {
  tracer_.writer().name(trace::NameKind::task, tasks_, name);
  return tasks_++;
}

std::uint16_t JobTrace::number_of_topic(const std::string& topic) {
  const auto [entry, is_new] =
      topics_.try_emplace(topic, static_cast<std::uint16_t>(topics_.size()));
  if (is_new) {
    tracer_.writer().name(trace::NameKind::topic, entry->second, topic);
  }
  return entry->second;
}

void JobTrace::delivered(const TracedTask& task, std::uint64_t job, os::TimePoint sampled,
                         std::uint16_t topic) noexcept {
  const os::TimePoint now = os::now();
  here().recorder.record(EventType::deliver, now, task.number, job, (now - sampled).count(), topic,
                         1);
}

void JobTrace::name_scenarios(const sched::SchedulingStrategy& strategy) {
  std::uint16_t number = 0;
  for (const sched::ScenarioPtr& scenario : strategy.scenarios()) {
    tracer_.writer().name(trace::NameKind::scenario, number++, scenario->name());
  }
}

void JobTrace::switched(std::size_t scenario, os::TimePoint time) {
  here().recorder.record(EventType::scenario, time, trace::no_task, 0,
                         static_cast<std::int64_t>(scenario));
}

void JobTrace::stop() {
  const std::string error = tracer_.stop();
  if (!error.empty()) {
    throw std::runtime_error{error};
  }
}

// Whichever threads an executor has: each gets its own at its first callback.
JobTrace::OfThread& JobTrace::here() {
  thread_local OfThread mine;
  if (!mine.recorder.on()) {
    mine.recorder = tracer_.add_thread();
  }
  return mine;
}

JobTrace::Released JobTrace::as_described(const TracedTask& task) noexcept {
  return {.time = {}, .deadline = task.deadline, .priority = task.priority};
}

JobTrace::Released JobTrace::as_released(const sched::Job& job) noexcept {
  const bool unlimited = job.deadline == os::TimePoint::max();
  return {.time = job.release,
          .deadline = unlimited ? nanoseconds{0} : job.deadline - job.release,
          .priority = job.priority};
}

// Those between the last one and `index`, which are a period behind each other.
void JobTrace::note_skipped(TracedTask& task, std::uint64_t index, os::TimePoint release,
                            nanoseconds period) {
  if (index <= task.jobs) {
    return;
  }
  const auto skipped = static_cast<std::int64_t>(index - task.jobs);
  here().recorder.record(EventType::skip, release - skipped * period, task.number, task.jobs,
                         skipped);
  task.jobs = index;
}

// rcl passes over the calls that are more than a period late.
void JobTrace::note_passed_over(TracedTask& task, os::TimePoint release) {
  const auto since = release - task.last;
  task.last = std::max(task.last, release);  // of jobs that run at once, a later one may come first
  const std::int64_t skipped = (since + task.period / 2) / task.period - 1;
  if (task.jobs > 0 && skipped > 0) {
    note_skipped(task, task.jobs + static_cast<std::uint64_t>(skipped), release, task.period);
  }
}

void JobTrace::begin(const TracedTask& task, std::uint64_t job, const Released& released,
                     os::TimePoint started) {
  trace::Recorder& recorder = here().recorder;
  const std::int64_t deadline = released.deadline.count() > 0
                                    ? (released.time + released.deadline).time_since_epoch().count()
                                    : trace::no_deadline;
  recorder.record(EventType::release, released.time, task.number, job, deadline);
  recorder.record(EventType::start, started, task.number, job, released.priority);
}

void JobTrace::end(const TracedTask& task, std::uint64_t job, const Released& released,
                   std::int64_t cpu_before) {
  OfThread& thread = here();
  thread.cpu_at_last_end = cpu_now();
  const os::TimePoint ended = os::now();
  const os::TimePoint due = released.time + released.deadline;
  thread.recorder.record(EventType::end, ended, task.number, job,
                         *thread.cpu_at_last_end - cpu_before);
  if (released.deadline.count() > 0 && ended > due) {
    thread.recorder.record(EventType::deadline_miss, ended, task.number, job,
                           due.time_since_epoch().count());
  }
}

std::int64_t JobTrace::cpu_now() noexcept {
  return thread_cpu_time().count();
}

}  // namespace takt::runner
