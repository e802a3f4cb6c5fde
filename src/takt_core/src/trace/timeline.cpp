// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/timeline.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace takt::trace {
namespace {

struct Open {
  Slice slice;           // the present stretch, or the last one
  bool running = false;  // false: preempted
};

// The jobs that have started and not ended on one core, the last started on top.
class Core {
 public:
  explicit Core(Timeline& result) : result_(result) {}

  void start(const Event& event) {
    if (!open_.empty()) {
      pause(open_.back(), event.time);
    }
    open_.push_back({.slice = {.task = event.task,
                               .core = event.core,
                               .job = event.job,
                               .begin = event.time,
                               .first = true},
                     .running = true});
  }

  // A task has one job at a time: where another one starts, the end of the former was lost. Its
  // time cannot be known, so its last stretch is left out.
  void drop(std::uint16_t task) {
    std::erase_if(open_, [task](const Open& open) { return open.slice.task == task; });
  }

  // False when the job did not start on this core.
  bool end(const Event& event) {
    const auto job = find(event);
    if (job == open_.end()) {
      return false;
    }
    const bool top = job + 1 == open_.end();
    if (!top) {
      ++result_.not_nested;
    }
    // A job that ends has run up to now, even if it looked preempted.
    Slice slice = job->slice;
    if (!job->running) {
      slice.first = false;
      slice.begin = event.time;
    }
    slice.end = event.time;
    slice.last = true;
    result_.slices.push_back(slice);
    open_.erase(job);
    if (top && !open_.empty()) {
      resume(open_.back(), event.time);
    }
    return true;
  }

  void preempt(const Event& event) {
    if (const auto job = find(event); job != open_.end()) {
      pause(*job, event.time);
    }
  }

  void resume(const Event& event) {
    if (const auto job = find(event); job != open_.end()) {
      resume(*job, event.time);
    }
  }

 private:
  std::vector<Open>::iterator find(const Event& event) {
    return std::ranges::find_if(open_, [&](const Open& open) {
      return open.slice.task == event.task && open.slice.job == event.job;
    });
  }

  void pause(Open& open, std::int64_t time) {
    if (!std::exchange(open.running, false)) {
      return;
    }
    open.slice.end = time;
    result_.slices.push_back(open.slice);
  }

  static void resume(Open& open, std::int64_t time) {
    if (!std::exchange(open.running, true)) {
      open.slice.begin = time;
      open.slice.first = false;
    }
  }

  Timeline& result_;
  std::vector<Open> open_;
};

}  // namespace

Timeline timeline(const std::vector<Event>& events) {
  Timeline result;
  std::map<std::uint16_t, Core> cores;
  for (const Event& event : events) {
    Core& core = cores.try_emplace(event.core, result).first->second;
    switch (event.type) {
      case EventType::start:
        for (auto& [number, other] : cores) {
          other.drop(event.task);
        }
        core.start(event);
        break;
      case EventType::end:
        // A thread that is bound to no core may end its job on another one than it began on.
        if (!core.end(event)) {
          std::ranges::any_of(cores, [&](auto& other) { return other.second.end(event); });
        }
        break;
      case EventType::preempt:
        core.preempt(event);
        break;
      case EventType::resume:
        core.resume(event);
        break;
      default:
        break;
    }
  }
  std::ranges::stable_sort(result.slices, {}, &Slice::begin);
  return result;
}

}  // namespace takt::trace
