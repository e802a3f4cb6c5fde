// SPDX-License-Identifier: Apache-2.0
//
// What happens in a recording beside the looks of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "decisions.hpp"

namespace takt::test {

inline constexpr nanoseconds usual_race = 300us;

// Something is released, or a job ends.
struct Event {
  bool ends = false;         // a job; else something releases the callback
  std::size_t callback = 0;  // that is released, or ends
  std::size_t number = 0;    // of this release, or of this job, among those of the callback
  TimePoint earliest;
  TimePoint latest;
};

// The events of a recording.
class Events {
 public:
  // An event is seen up to usual_race after it was noted; `late`: at any time until what follows
  // from it was noted, because a machine under load may stop any thread.
  Events(const Recording& recording, const Executor& executor, bool late)
      : recording_(recording), executor_(executor), late_(late) {
    for (std::size_t callback = 0; callback < recording.callbacks.size(); ++callback) {
      jobs_.push_back(recording.jobs_of(callback));
      add_ends(callback);
      if (recording.callbacks[callback].is_timer()) {
        add_expiries(callback);
      } else {
        add_messages(callback);
      }
    }
    std::ranges::stable_sort(all_, {}, &Event::earliest);
  }

  [[nodiscard]] const std::vector<Event>& all() const { return all_; }
  [[nodiscard]] const std::vector<std::size_t>& jobs_of(std::size_t callback) const {
    return jobs_[callback];
  }
  [[nodiscard]] bool delayed() const { return late_; }
  // The job before it on its thread; nothing: none.
  [[nodiscard]] std::optional<std::size_t> before(std::size_t job) const {
    for (std::size_t i = job; i-- > 0;) {
      if (recording_.jobs[i].thread == recording_.jobs[job].thread) {
        return i;
      }
    }
    return {};
  }

  // When what it ran for came.
  [[nodiscard]] TimePoint released(std::size_t job) const {
    const std::size_t callback = recording_.jobs[job].callback;
    const Drawn& drawn = recording_.callbacks[callback];
    if (drawn.is_timer()) {
      return recording_.jobs[job].release;
    }
    const auto number = std::ranges::find(jobs_[callback], job) - jobs_[callback].begin();
    if (drawn.outside) {
      return recording_.from_outside[callback][static_cast<std::size_t>(number)].earliest;
    }
    return recording_.sorted(drawn.trigger,
                             &RecordedJob::computed)[static_cast<std::size_t>(number)];
  }

  // When its group and a thread were free, and what it ran for had come.
  [[nodiscard]] TimePoint could_begin(std::size_t job) const {
    return recording_.jobs[job].start - waited(job);
  }

  // How long it waited although its group and a thread were free.
  [[nodiscard]] nanoseconds waited(std::size_t job) const {
    std::vector<int> threads;
    for (const RecordedJob& other : recording_.jobs) {
      if (std::ranges::find(threads, other.thread) == threads.end()) {
        threads.push_back(other.thread);
      }
    }
    const TimePoint from = group_free(job);
    const TimePoint start = recording_.jobs[job].start;
    TimePoint earliest = threads.size() < executor_.threads ? from : start;
    for (const int thread : threads) {
      TimePoint free = from;
      for (std::size_t i = 0; i < job; ++i) {
        const RecordedJob& other = recording_.jobs[i];
        if (other.thread == thread && other.start <= free + usual_race && other.published > free) {
          free = other.published;
        }
      }
      earliest = std::min(earliest, free);
    }
    return start - earliest;
  }

 private:
  static constexpr TimePoint never = TimePoint::max();

  [[nodiscard]] TimePoint group_free(std::size_t job) const {
    TimePoint time = released(job);
    const std::size_t callback = recording_.jobs[job].callback;
    const Drawn& drawn = recording_.callbacks[callback];
    for (std::size_t i = 0; i < job; ++i) {
      const RecordedJob& other = recording_.jobs[i];
      const Drawn& its = recording_.callbacks[other.callback];
      const bool at_once = executor_.name == "rclcpp_multi_threaded" && drawn.reentrant;
      const bool excludes = (other.callback == callback && !at_once) ||
                            (drawn.group > 0 && its.group == drawn.group) ||
                            (executor_.takes_in_turn() && drawn.reentrant && its.reentrant);
      time = excludes ? std::max(time, other.published) : time;
    }
    return time;
  }

  [[nodiscard]] TimePoint start_of(std::size_t callback, std::size_t number) const {
    const auto& jobs = jobs_[callback];
    return number < jobs.size() ? recording_.jobs[jobs[number]].start : never;
  }

  void add_ends(std::size_t callback) {
    for (std::size_t number = 0; number < jobs_[callback].size(); ++number) {
      const std::size_t job = jobs_[callback][number];
      const TimePoint end = recording_.jobs[job].published;
      TimePoint next = never;  // on this thread
      for (std::size_t i = job + 1; i < recording_.jobs.size() && next == never; ++i) {
        next = recording_.jobs[i].thread == recording_.jobs[job].thread ? recording_.jobs[i].start
                                                                        : never;
      }
      all_.push_back({.ends = true,
                      .callback = callback,
                      .number = number,
                      .earliest = end,
                      .latest = std::min(late_ ? next : end + usual_race, next)});
    }
  }

  void add_expiries(std::size_t callback) {
    const Drawn& timer = recording_.callbacks[callback];
    TimePoint release = recording_.begin + timer.offset;
    for (std::size_t number = 0; number <= jobs_[callback].size(); ++number) {
      TimePoint earliest = release;
      if (number < jobs_[callback].size()) {
        earliest = release = recording_.jobs[jobs_[callback][number]].release;
      } else if (number > 0) {
        const TimePoint last = recording_.jobs[jobs_[callback].back()].start;
        do {
          release += timer.period;
        } while (release < last && executor_.name != "rclcpp_events");
        earliest = release;
      }
      if (executor_.takes_in_turn() && number > 0) {
        earliest = std::max(earliest, recording_.jobs[jobs_[callback][number - 1]].published);
      }
      add_release(callback, number, earliest, earliest);
    }
  }

  void add_messages(std::size_t callback) {
    if (recording_.callbacks[callback].outside) {
      const std::vector<Arrival>& arrivals = recording_.from_outside[callback];
      for (std::size_t number = 0; number < arrivals.size(); ++number) {
        add_release(callback, number, arrivals[number].earliest, arrivals[number].latest);
      }
      return;
    }
    const std::size_t writer = recording_.callbacks[callback].trigger;
    const std::vector<TimePoint> computed = recording_.sorted(writer, &RecordedJob::computed);
    const std::vector<TimePoint> published = recording_.sorted(writer, &RecordedJob::published);
    for (std::size_t number = 0; number < computed.size(); ++number) {
      add_release(callback, number, computed[number], published[number]);
    }
  }

  void add_release(std::size_t callback, std::size_t number, TimePoint earliest, TimePoint latest) {
    const TimePoint start = start_of(callback, number);
    all_.push_back({.callback = callback,
                    .number = number,
                    .earliest = std::min(earliest, start),
                    .latest = std::min(late_ ? start : latest + usual_race, start)});
  }

  const Recording& recording_;
  Executor executor_;
  bool late_;
  std::vector<std::vector<std::size_t>> jobs_;  // by callback
  std::vector<Event> all_;
};

}  // namespace takt::test
