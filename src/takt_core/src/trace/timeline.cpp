// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/timeline.hpp"

#include <algorithm>
#include <ranges>

namespace takt::trace {

void Timeline::take(const Event& event) {
  last_ = event.time;
  if (const auto ended = ended_.find(event.task);
      ended != ended_.end() && ended->second->job != event.job) {
    jobs.push_back(*ended->second);
    ended_.erase(ended);
  }
  switch (event.type) {
    case EventType::release: {
      Job& job = *job_of(event);
      job.release = event.time;
      job.deadline = event.value == no_deadline ? not_recorded : event.value;
      job.by_deadline = orders_.by_deadline(event.core);
      break;
    }
    case EventType::start:
      start(event);
      break;
    case EventType::end:
      end(event);
      break;
    case EventType::preempt:
      if (Open* const open = found(event)) {
        pause(*open, event.core, event.time);
      }
      break;
    case EventType::resume:
      if (Open* const open = found(event); open != nullptr && open->since == not_recorded) {
        open->since = event.time;
      }
      break;
    case EventType::boost:
      boost(event);
      break;
    case EventType::deadline_miss: {
      Job& job = *job_of(event);
      job.deadline = event.value;
      job.missed = true;
      break;
    }
    case EventType::budget_overrun:
      job_of(event)->cpu_time = event.value;
      break;
    case EventType::wait: {
      Job& job = *job_of(event);
      if (event.detail == 0) {
        job.waited_before = event.value;
      } else {
        job.waited = event.value;
        job.sleeps = static_cast<std::uint8_t>(event.detail - 1);
      }
      break;
    }
    case EventType::scenario:
      orders_.take(event);
      break;
    default:
      break;
  }
}

void Timeline::close() {
  for (auto& [core, stack] : cores_) {
    for (const Open& open : stack) {
      slice(open, core, last_);
    }
  }
  for (const Job& job : unfinished()) {
    jobs.push_back(job);
  }
  cores_.clear();
  ended_.clear();
  jobs_.clear();
}

std::vector<Job> Timeline::unfinished() const {
  std::vector<Job> result;
  result.reserve(ended_.size() + jobs_.size());
  for (const auto& [task, job] : ended_) {
    result.push_back(*job);
  }
  for (const auto& [key, job] : jobs_) {
    result.push_back(*job);
  }
  return result;
}

std::int64_t Timeline::settled() const {
  std::int64_t first = last_;
  for (const auto& [core, stack] : cores_) {
    for (const Open& open : stack) {
      first = open.since == not_recorded ? first : std::min(first, open.since);
    }
  }
  return first;
}

std::shared_ptr<Job> Timeline::job_of(const Event& event) {
  if (const auto ended = ended_.find(event.task); ended != ended_.end()) {
    return ended->second;
  }
  auto& job = jobs_[{event.task, event.job}];
  if (!job) {
    job = std::make_shared<Job>();
    job->serial = serial_++;
    job->job = event.job;
    job->task = event.task;
  }
  return job;
}

void Timeline::start(const Event& event) {
  drop_lost(event);
  Stack& stack = cores_[event.core];
  if (!stack.empty()) {
    pause(stack.back(), event.core, event.time);
  }
  std::shared_ptr<Job> job = job_of(event);
  job->start = event.time;
  job->priority = event.value;
  job->core = event.core;
  stack.push_back({.job = std::move(job), .since = event.time});
}

void Timeline::end(const Event& event) {
  const std::shared_ptr<Job> job = job_of(event);
  job->end = event.time;
  job->cpu_time = event.value < 0 ? not_recorded : event.value;
  job->missed |= job->deadline != not_recorded && job->end > job->deadline;
  // A thread that is bound to no core may end its job on another one than it began on.
  if (!leave(event.core, *job, event.time)) {
    std::ranges::any_of(std::views::keys(cores_),
                        [&](std::uint16_t core) { return leave(core, *job, event.time); });
  }
  jobs_.erase({event.task, event.job});
  ended_[event.task] = job;
}

bool Timeline::leave(std::uint16_t core, const Job& job, std::int64_t time) {
  const auto on = cores_.find(core);
  if (on == cores_.end()) {
    return false;
  }
  Stack& stack = on->second;
  const auto place =
      std::ranges::find(stack, &job, [](const Open& open) { return open.job.get(); });
  if (place == stack.end()) {
    return false;
  }
  const bool top = place + 1 == stack.end();
  not_nested_ += top ? 0 : 1;
  slice(*place, core, time);
  stack.erase(place);
  if (top && !stack.empty() && stack.back().since == not_recorded) {
    stack.back().since = time;
  }
  return true;
}

// A task has one job at a time: where another one starts, the end of the former was lost. Its time
// cannot be known, so its last stretch is left out. Those of a reentrant task remain.
void Timeline::drop_lost(const Event& start) {
  if (orders_.several_at_once(true)) {
    return;
  }
  for (auto& [core, stack] : cores_) {
    if (core != start.core && orders_.several_at_once(false)) {
      continue;
    }
    const auto lost =
        std::ranges::find(stack, start.task, [](const Open& open) { return open.job->task; });
    if (lost != stack.end()) {
      jobs.push_back(*lost->job);
      jobs_.erase({lost->job->task, lost->job->job});
      stack.erase(lost);
      return;
    }
  }
}

void Timeline::boost(const Event& event) {
  const Open* const open = found(event);
  if (open == nullptr) {
    return;  // it has not started
  }
  Stack& stack = cores_[event.core];
  const auto from = stack.begin() + (open - stack.data());
  const auto passed = stack.end() - from - 1 - std::ptrdiff_t{event.detail};
  if (passed <= 0) {
    return;
  }
  std::rotate(from, from + 1, from + 1 + passed);
  if (event.detail == 0) {
    pause(stack[stack.size() - 2], event.core, event.time);
    stack.back().since = event.time;
  }
}

Timeline::Open* Timeline::found(const Event& event) {
  const auto stack = cores_.find(event.core);
  if (stack == cores_.end()) {
    return nullptr;
  }
  const auto open = std::ranges::find_if(stack->second, [&](const Open& one) {
    return one.job->task == event.task && one.job->job == event.job;
  });
  return open == stack->second.end() ? nullptr : &*open;
}

void Timeline::pause(Open& open, std::uint16_t core, std::int64_t time) {
  if (open.since == not_recorded) {
    return;
  }
  // In virtual time a job may seem to resume between two others, for no time at all.
  if (open.since < time || open.job->preemptions == 0) {
    ++open.job->preemptions;
  }
  slice(open, core, time);
  open.since = not_recorded;
}

void Timeline::slice(const Open& open, std::uint16_t core, std::int64_t time) {
  if (open.since == not_recorded || open.since == time) {
    return;
  }
  Job& job = *open.job;
  job.running = elapsed(elapsed(job.running, open.since), time);
  slices.push_back({.serial = job.serial,
                    .job = job.job,
                    .begin = open.since,
                    .end = time,
                    .started = job.start,
                    .task = job.task,
                    .core = core});
}

Timeline timeline(const std::vector<Event>& events) {
  Timeline result;
  for (const Event& event : events) {
    result.take(event);
  }
  result.close();
  std::ranges::stable_sort(result.slices, {}, &Slice::begin);
  return result;
}

}  // namespace takt::trace
