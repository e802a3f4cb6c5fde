// SPDX-License-Identifier: Apache-2.0
#include "next_start.hpp"

#include <algorithm>

namespace takt::analysis {

NextStart::NextStart(const sched::Policy& policy, std::span<const PeriodicTask> tasks)
    : policy_(policy), tasks_(tasks), next_(tasks.size()) {}

// What the executor shows its policy at this time.
void NextStart::look_ahead(TimePoint time) {
  if (from_ <= time && time < until_) {
    return;
  }
  from_ = time;
  until_ = TimePoint::max();
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    Job& job = next_[i];
    job = tasks_[i].first;
    if (job.release <= time) {
      const auto steps = (time - job.release) / job.period + 1;
      job.index += static_cast<std::uint64_t>(steps);
      job.release += steps * job.period;
      job.deadline += steps * job.period;
    }
    until_ = std::min(until_, job.release);
  }
}

// Between two releases a job may start until some time, and not after it. (Where deadlines are lost
// already the executor lets it start, see idle_insertion.hpp. That may be left out: as they are
// lost, a missed deadline is found either way.)
bool NextStart::may_start(const Job& job, TimePoint time) {
  if (policy_.work_conserving()) {
    return true;
  }
  look_ahead(time);
  return time <= policy_.latest_start(job, next_);
}

void NextStart::collect(std::span<const Job> waiting, TimePoint until) {
  candidates_.clear();
  for (const Job& job : waiting) {
    if (job.release <= until) {
      candidates_.push_back(&job);
    }
  }
  std::ranges::sort(candidates_, [this](const Job* a, const Job* b) {
    return sched::runs_before(policy_.order(), policy_, *a, *b);
  });
}

// The first time from `latest` on by which something has started for certain: whoever is the first
// of those that are noticed may start. Who that is, is not certain while jobs are noticed late.
TimePoint NextStart::last_start(std::span<const Job> waiting, TimePoint latest) {
  TimePoint time = latest;
  for (;;) {
    collect(waiting, time);
    TimePoint again = TimePoint::max();  // when that can change
    for (const Job* const job : candidates_) {
      if (!may_start(*job, time)) {
        again = std::min(again, until_);
        break;
      }
      if (noticed(*job) <= time) {
        return time;
      }
      again = std::min(again, noticed(*job));
    }
    for (const Job& job : waiting) {
      if (job.release > time) {
        again = std::min(again, job.release);
      }
    }
    time = again;
  }
}

void NextStart::add(const Job& job, TimePoint from, TimePoint until) {
  if (policy_.work_conserving()) {
    starts_.push_back({.task = job.task, .first = from, .last = until});
    return;
  }
  bool goes_on = false;
  while (from <= until) {
    look_ahead(from);
    const TimePoint segment = until_ - nanoseconds{1};
    const TimePoint last = std::min({until, segment, policy_.latest_start(job, next_)});
    if (last < from) {
      goes_on = false;
    } else if (goes_on) {
      starts_.back().last = last;
    } else {
      starts_.push_back({.task = job.task, .first = from, .last = last});
    }
    goes_on = last == segment;
    from = until_;
  }
}

std::span<const Start> NextStart::find(std::span<const Job> waiting, TimePoint earliest,
                                       TimePoint latest) {
  starts_.clear();
  TimePoint until = last_start(waiting, latest);
  collect(waiting, until);
  for (const Job* const job : candidates_) {
    const TimePoint from = std::max(earliest, job->release);
    if (from <= until) {
      add(*job, from, until);
    }
    // From its notice on nobody behind it starts.
    until = std::min(until, noticed(*job) - nanoseconds{1});
    if (until < earliest) {
      break;
    }
  }
  return starts_;
}

// A timer's job starts when nothing is certain to come before it: neither another one, nor a
// message that is due at `free - waited + allowed`.
void NextStart::keep_behind(const Job& other, const Waited& message, Start& start) const {
  const Job& own = waiting_[start.task];
  if (message.there) {
    start.first = std::max(start.first, own.deadline + message.least - allowed(other));
  } else if (!tasks_[other.task].writer &&
             sched::runs_before(policy_.order(), policy_, other, own)) {
    start.last = std::min(start.last, noticed(other) - nanoseconds{1});
  }
}

// The same for a message.
void NextStart::keep_message_behind(const Job& other, const Waited& message, const Waited& own,
                                    Start& start) const {
  const nanoseconds limit = allowed(waiting_[start.task]);
  if (message.there) {
    if (allowed(other) - message.least < limit - own.most) {
      start.last = start.first - nanoseconds{1};
    }
  } else if (!tasks_[other.task].writer) {
    start.last = std::min(
        start.last, std::max(noticed(other) - nanoseconds{1}, other.deadline + own.most - limit));
  }
}

std::span<const Start> NextStart::find(std::span<const Job> waiting,
                                       std::span<const Waited> messages, TimePoint earliest,
                                       TimePoint latest) {
  starts_.clear();
  waiting_ = waiting;
  for (const Job& job : waiting) {
    const Waited& own = messages[job.task];
    if (tasks_[job.task].writer && !own.there) {
      continue;
    }
    // Whoever is next starts at once.
    Start start{.task = job.task,
                .first = own.there ? earliest : std::max(earliest, job.release),
                .last = latest};
    for (const Job& other : waiting) {
      if (other.task == job.task) {
        continue;
      }
      if (own.there) {
        keep_message_behind(other, messages[other.task], own, start);
      } else {
        keep_behind(other, messages[other.task], start);
      }
    }
    if (start.first <= start.last) {
      starts_.push_back(start);
    }
  }
  return starts_;
}

}  // namespace takt::analysis
