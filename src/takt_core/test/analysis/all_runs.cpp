// SPDX-License-Identifier: Apache-2.0
#include "analysis/all_runs.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

namespace takt::analysis {
namespace {

bool by_deadline(Rule rule) {
  return rule == Rule::np_edf || rule == Rule::cw_edf;
}

// The core is free at `now`. Of each task, what has become of it: how many of its jobs have
// started, and when the next one is noticed.
struct Situation {
  std::int64_t now = 0;
  std::vector<std::int64_t> started = {};
  std::vector<std::int64_t> noticed = {};

  auto operator<=>(const Situation&) const = default;
};

std::int64_t release_of(const OracleTask& task, std::int64_t job) {
  return task.offset + job * task.period;
}

// The published rules: is there time for this job before those that are still to be released?
bool lets_start(Rule rule, const std::vector<OracleTask>& tasks, std::size_t task,
                std::int64_t deadline, std::int64_t now) {
  struct Next {
    std::int64_t deadline;
    std::int64_t execution;
  };
  std::vector<Next> behind;
  int top = 0;
  for (const OracleTask& other : tasks) {
    top = std::max(top, other.priority);
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    std::int64_t job = 0;
    while (release_of(tasks[i], job) <= now) {
      ++job;
    }
    const Next next{release_of(tasks[i], job) + tasks[i].deadline, tasks[i].execution};
    const bool counts = rule == Rule::p_rm ? tasks[i].priority == top && tasks[task].priority < top
                                           : i != task && next.deadline < deadline;
    if (counts) {
      behind.push_back(next);
    }
  }
  std::ranges::sort(behind, {}, &Next::deadline);
  std::int64_t end = now + tasks[task].execution;
  for (const Next& next : behind) {
    end += next.execution;
    if (end > next.deadline) {
      return false;
    }
  }
  return true;
}

class AllRuns {
 public:
  AllRuns(Rule rule, const std::vector<OracleTask>& tasks, std::int64_t end)
      : rule_(rule), tasks_(tasks), end_(end) {
    result_.responses.assign(tasks.size(), 0);
    first_.started.assign(tasks.size(), 0);
    first_.noticed.assign(tasks.size(), 0);
  }

  Observed run() {
    notice_from(first_, 0);
    while (!todo_.empty() && !result_.missed) {
      follow(todo_.extract(todo_.begin()).value());
    }
    return result_;
  }

  std::vector<OracleStart> replay(const std::vector<std::int64_t>& executions) {
    std::vector<OracleStart> starts;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      first_.noticed[i] = release_of(tasks_[i], 0);
    }
    for (const std::int64_t execution : executions) {
      const auto task = next(first_);
      if (!task) {
        break;
      }
      starts.push_back({.task = *task, .start = first_.now});
      first_.now += execution;
      first_.noticed[*task] = release_of(tasks_[*task], ++first_.started[*task]);
    }
    return starts;
  }

 private:
  // All that can be noticed of the next jobs of this task and those after it.
  void notice_from(Situation& situation, std::size_t task) {
    if (task == tasks_.size()) {
      todo_.insert(situation);
      return;
    }
    for (std::int64_t lag = 0; lag <= tasks_[task].lag; ++lag) {
      situation.noticed[task] = release_of(tasks_[task], situation.started[task]) + lag;
      notice_from(situation, task + 1);
    }
  }

  void follow(Situation situation) {
    const auto task = next(situation);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const std::int64_t deadline =
          release_of(tasks_[i], situation.started[i]) + tasks_[i].deadline;
      result_.missed = result_.missed || situation.now + tasks_[i].execution > deadline;
    }
    if (task) {
      start(situation, *task);
    }
  }

  // Goes on to the next start.
  std::optional<std::size_t> next(Situation& situation) const {
    for (; situation.now < end_; ++situation.now) {
      std::size_t first = tasks_.size();
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        if (situation.noticed[i] <= situation.now &&
            (first == tasks_.size() || place(situation, i) < place(situation, first))) {
          first = i;
        }
      }
      if (first < tasks_.size() && starts(situation, first)) {
        return first;
      }
    }
    return {};
  }

  [[nodiscard]] std::tuple<std::int64_t, std::int64_t, std::size_t> place(
      const Situation& situation, std::size_t task) const {
    const std::int64_t release = release_of(tasks_[task], situation.started[task]);
    return {by_deadline(rule_) ? release + tasks_[task].deadline : -tasks_[task].priority, release,
            task};
  }

  [[nodiscard]] bool starts(const Situation& situation, std::size_t task) const {
    const std::int64_t release = release_of(tasks_[task], situation.started[task]);
    return (rule_ != Rule::p_rm && rule_ != Rule::cw_edf) ||
           lets_start(rule_, tasks_, task, release + tasks_[task].deadline, situation.now);
  }

  void start(Situation situation, std::size_t task) {
    const std::int64_t release = release_of(tasks_[task], situation.started[task]);
    const std::int64_t begin = situation.now;
    const std::int64_t worst = tasks_[task].execution;
    std::int64_t& longest = result_.responses[task];
    longest = std::max(longest, begin + worst - release);
    result_.missed = result_.missed || begin + worst > release + tasks_[task].deadline;
    ++situation.started[task];
    for (std::int64_t time = tasks_[task].best > 0 ? tasks_[task].best : worst; time <= worst;
         ++time) {
      situation.now = begin + time;
      for (std::int64_t lag = 0; lag <= tasks_[task].lag; ++lag) {
        situation.noticed[task] = release_of(tasks_[task], situation.started[task]) + lag;
        todo_.insert(situation);
      }
    }
  }

  Rule rule_;
  const std::vector<OracleTask>& tasks_;
  std::int64_t end_;
  Situation first_;
  std::set<Situation> todo_;  // by time, so that none comes twice
  Observed result_;
};

}  // namespace

Observed observe_all(Rule rule, const std::vector<OracleTask>& tasks, std::int64_t end) {
  return AllRuns{rule, tasks, end}.run();
}

std::vector<OracleStart> observe_one(Rule rule, const std::vector<OracleTask>& tasks,
                                     const std::vector<std::int64_t>& executions) {
  return AllRuns{rule, tasks, std::numeric_limits<std::int64_t>::max()}.replay(executions);
}

}  // namespace takt::analysis
