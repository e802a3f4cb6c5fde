// SPDX-License-Identifier: Apache-2.0
#include "analysis/waiting_runs.hpp"

#include <algorithm>
#include <tuple>

namespace takt::analysis {
namespace {

struct Live {
  const WaitingJob* job;
  std::size_t done = 0;
  bool started = false;
};

class Core {
 public:
  Core(const std::vector<WaitingTask>& tasks, const Ties& ties) : tasks_(tasks), ties_(ties) {}

  std::vector<std::int64_t> run(const std::vector<WaitingJob>& jobs) {
    std::vector<std::int64_t> longest(tasks_.size(), 0);
    std::vector<const WaitingJob*> coming;
    for (const WaitingJob& job : jobs) {
      coming.push_back(&job);
    }
    std::ranges::stable_sort(coming, {}, &WaitingJob::noticed);
    std::size_t next = 0;
    for (std::int64_t now = 0; next < coming.size() || !live_.empty(); ++now) {
      for (; next < coming.size() && coming[next]->noticed <= now; ++next) {
        live_.push_back({.job = coming[next]});
      }
      Live* const running = choose();
      for (Live& live : live_) {
        if (&live == running || waits(live)) {
          live.started = true;
          ++live.done;
        }
      }
      std::erase_if(live_, [&](const Live& live) {
        if (live.done < live.job->computes.size()) {
          return false;
        }
        longest[live.job->task] = std::max(longest[live.job->task], now + 1 - live.job->release);
        return true;
      });
    }
    return longest;
  }

 private:
  [[nodiscard]] const WaitingTask& task(const Live& live) const { return tasks_[live.job->task]; }

  // Its thread has nothing else to do before it.
  [[nodiscard]] bool is_first(const Live& live) const {
    const auto first = std::ranges::find_if(
        live_, [&](const Live& other) { return other.job->task == live.job->task; });
    return &*first == &live;
  }
  [[nodiscard]] bool waits(const Live& live) const {
    return is_first(live) && !live.job->computes[live.done];
  }

  // A job of a group runs at the highest priority of its members.
  [[nodiscard]] int priority(const Live& live) const {
    int highest = task(live).priority;
    if (live.started && task(live).group != 0) {
      for (const WaitingTask& other : tasks_) {
        highest = other.group == task(live).group ? std::max(highest, other.priority) : highest;
      }
    }
    return highest;
  }

  Live* choose() {
    Live* shared = nullptr;  // of the threads that do one job after the other
    Live* own = nullptr;
    const auto order = [this](const Live& live) {
      return std::tuple{-priority(live), !live.started, live.job->release, live.job->task};
    };
    for (Live& live : live_) {
      if (!is_first(live) || waits(live)) {
        continue;
      }
      if (task(live).suspension == 0) {
        shared = shared == nullptr || order(live) < order(*shared) ? &live : shared;
      } else if (own == nullptr || priority(live) > priority(*own) ||
                 (priority(live) == priority(*own) && ties_())) {
        own = &live;
      }
    }
    if (own == nullptr || shared == nullptr) {
      return own == nullptr ? shared : own;
    }
    if (priority(*own) == priority(*shared)) {
      return ties_() ? own : shared;
    }
    return priority(*own) > priority(*shared) ? own : shared;
  }

  const std::vector<WaitingTask>& tasks_;
  const Ties& ties_;
  std::vector<Live> live_;  // by notice
};

}  // namespace

std::vector<std::int64_t> observe_waiting(const std::vector<WaitingTask>& tasks,
                                          const std::vector<WaitingJob>& jobs, const Ties& ties) {
  return Core{tasks, ties}.run(jobs);
}

}  // namespace takt::analysis
