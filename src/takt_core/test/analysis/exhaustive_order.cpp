// SPDX-License-Identifier: Apache-2.0
#include "analysis/exhaustive_order.hpp"

#include <algorithm>
#include <tuple>

namespace takt::analysis {

bool Order::is_edf() const {
  const Rule rule = tasks_.options().rule;
  return rule == Rule::edf || rule == Rule::np_edf || rule == Rule::cw_edf;
}

bool Order::preempts() const {
  return tasks_.options().rule == Rule::fp || tasks_.options().rule == Rule::edf;
}

std::int64_t Order::left(const Situation& now, std::size_t task) const {
  return tasks_.of_job(now, task).deadline - now.tasks[task].ages[0];
}

// The smaller comes first by the rule.
std::int64_t Order::urgency(const Situation& now, std::size_t task) const {
  return is_edf() ? left(now, task) : -std::int64_t{tasks_.of_job(now, task).priority};
}

std::int64_t Order::level(const Situation& now, std::size_t task) const {
  return is_edf() ? -tasks_.of_job(now, task).deadline : tasks_.of_job(now, task).priority;
}

std::vector<std::size_t> Order::choose(const Situation& now) const {
  const std::size_t shared = first_of_stack(now);
  std::vector<std::size_t> first;
  if (shared != nobody_runs) {
    first.push_back(shared);
  }
  // Whoever waits has a thread of its own, which the kernel puts in order by priority alone.
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const TaskNow& task = now.tasks[i];
    if (!tasks_.waits(i) || task.noticed == 0 || task.suspended != 0) {
      continue;
    }
    if (first.empty() || priority(now, i) == priority(now, first.front())) {
      first.push_back(i);
    } else if (priority(now, i) > priority(now, first.front())) {
      first.assign(1, i);
    }
  }
  // Of equal ones the kernel goes on with the one that has the core.
  if (std::ranges::find(first, now.had_core) != first.end()) {
    first.assign(1, now.had_core);
  }
  return first;
}

// A job of a group runs at the highest priority of its members.
int Order::priority(const Situation& now, std::size_t task) const {
  int highest = tasks_.of_job(now, task).priority;
  if (now.tasks[task].place > 0 && tasks_[task].task.group != 0) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].task.group == tasks_[task].task.group) {
        highest = std::max(highest, tasks_[i].task.priority);
      }
    }
  }
  return highest;
}

// Of the jobs that share a stack: each that starts is above those that have started.
std::size_t Order::first_of_stack(const Situation& now) const {
  std::size_t first = nobody_runs;
  std::size_t running = nobody_runs;
  const auto order = [&](std::size_t i) {
    return std::tuple{urgency(now, i), -std::int64_t{now.tasks[i].ages[0]}, i};
  };
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const TaskNow& task = now.tasks[i];
    if (tasks_.waits(i)) {
      continue;
    }
    if (task.place > 0) {
      running = running == nobody_runs || task.place > now.tasks[running].place ? i : running;
    } else if (task.noticed != 0 && (first == nobody_runs || order(i) < order(first))) {
      first = i;
    }
  }
  if (first == nobody_runs) {
    return running;
  }
  if (running == nobody_runs) {
    return lets_start(now, first) ? first : nobody_runs;
  }
  const bool stays =
      !preempts() || urgency(now, first) >= urgency(now, running) || is_held(now, first);
  return stays ? running : first;
}

// Whether a group that a started job holds keeps it out (Baker 1991).
bool Order::is_held(const Situation& now, std::size_t task) const {
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (now.tasks[i].place == 0 || tasks_[i].task.group == 0) {
      continue;
    }
    for (std::size_t k = 0; k < tasks_.size(); ++k) {
      if (tasks_[k].task.group == tasks_[i].task.group && level(now, task) <= level(now, k)) {
        return true;
      }
    }
  }
  return false;
}

// The published rules of policies that leave the core idle: is there time for this job before
// those that are still to be released? They are kept waiting only where that saves them.
bool Order::lets_start(const Situation& now, std::size_t task) const {
  const Rule rule = tasks_.options().rule;
  if (rule != Rule::p_rm && rule != Rule::cw_edf) {
    return true;
  }
  struct Next {
    std::int64_t release;
    std::int64_t deadline;
    std::int64_t execution;
  };
  // Jobs that are still to come are those of the present scenario.
  const auto declared = [this](std::size_t i, const OracleTask& under) {
    return tasks_[i].declared > 0 ? tasks_[i].declared : under.execution;
  };
  const OracleTask& own = tasks_.of_job(now, task);
  int top = 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    top = tasks_.is_timer(i) ? std::max(top, tasks_.of_next(now, i).priority) : top;
  }
  std::vector<Next> behind;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const OracleTask& other = tasks_.of_next(now, i);
    const Next next{now.tasks[i].next, now.tasks[i].next + other.deadline, declared(i, other)};
    const bool counts = rule == Rule::p_rm ? other.priority == top && own.priority < top
                                           : i != task && next.deadline < left(now, task);
    if (tasks_.is_timer(i) && counts) {
      behind.push_back(next);
    }
  }
  std::ranges::sort(behind, {}, &Next::deadline);
  std::int64_t work = 0;
  std::int64_t begins = most_age;
  for (std::size_t i = 0; i < behind.size(); ++i) {
    work += behind[i].execution;
    begins = std::min(begins, behind[i].release);
    const bool last = i + 1 == behind.size() || behind[i + 1].deadline > behind[i].deadline;
    const bool kept_without = begins + work <= behind[i].deadline;
    if (last && kept_without && work + declared(task, own) > behind[i].deadline) {
      return false;
    }
  }
  return true;
}

}  // namespace takt::analysis
