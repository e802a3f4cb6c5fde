// SPDX-License-Identifier: Apache-2.0
#include "analysis/oracle.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace takt::analysis {
namespace {

struct Live {
  OracleJob job;
  std::int64_t left = 0;
  std::int64_t deadline = 0;
  bool started = false;
};

bool is_edf(Rule rule) {
  return rule == Rule::edf || rule == Rule::np_edf;
}
bool keeps_core(Rule rule) {
  return rule == Rule::np_fp || rule == Rule::np_edf;
}

// How far a task can climb over others: by priority, or by a short relative deadline.
std::int64_t rank(Rule rule, const OracleTask& task) {
  return is_edf(rule) ? -task.deadline : task.priority;
}

std::int64_t ceiling(Rule rule, const std::vector<OracleTask>& tasks, int group) {
  std::int64_t highest = -1'000'000'000;
  for (const OracleTask& task : tasks) {
    if (task.group == group) {
      highest = std::max(highest, rank(rule, task));
    }
  }
  return highest;
}

// The smaller runs first.
auto order(Rule rule, const std::vector<OracleTask>& tasks, const Live& live) {
  const std::int64_t first =
      is_edf(rule) ? live.deadline : -std::int64_t{tasks[live.job.task].priority};
  return std::tuple{first, live.job.release, live.job.task};
}

Live* choose(Rule rule, const std::vector<OracleTask>& tasks, std::vector<Live>& live,
             std::int64_t now) {
  if (keeps_core(rule)) {
    const auto running = std::ranges::find_if(live, &Live::started);
    if (running != live.end()) {
      return &*running;
    }
  }
  Live* waiting = nullptr;
  Live* running = nullptr;
  for (Live& candidate : live) {
    Live*& best = candidate.started ? running : waiting;
    if (candidate.job.noticed > now) {
      continue;
    }
    if (best == nullptr || order(rule, tasks, candidate) < order(rule, tasks, *best)) {
      best = &candidate;
    }
  }
  if (waiting == nullptr || running == nullptr) {
    return waiting == nullptr ? running : waiting;
  }
  // The first job that waits starts if it comes before the one that runs, and no group that a
  // started job holds has a ceiling that it does not exceed; nobody starts in its place.
  bool starts = order(rule, tasks, *waiting) < order(rule, tasks, *running);
  for (const Live& other : live) {
    const int group = tasks[other.job.task].group;
    starts = starts && !(other.started && group != 0 &&
                         rank(rule, tasks[waiting->job.task]) <= ceiling(rule, tasks, group));
  }
  return starts ? waiting : running;
}

}  // namespace

Observed observe(Rule rule, const std::vector<OracleTask>& tasks,
                 const std::vector<OracleJob>& jobs) {
  Observed result{.responses = std::vector<std::int64_t>(tasks.size(), 0)};
  std::vector<Live> live;
  std::vector<OracleJob> coming = jobs;
  std::ranges::stable_sort(coming, {}, &OracleJob::noticed);
  std::size_t next = 0;
  for (std::int64_t now = 0; next < coming.size() || !live.empty(); ++now) {
    for (; next < coming.size() && coming[next].noticed <= now; ++next) {
      const OracleTask& task = tasks[coming[next].task];
      live.push_back({.job = coming[next],
                      .left = task.execution,
                      .deadline = coming[next].release + task.deadline});
    }
    Live* const running = choose(rule, tasks, live, now);
    if (running == nullptr) {
      continue;
    }
    running->started = true;
    if (--running->left > 0) {
      continue;
    }
    std::int64_t& longest = result.responses[running->job.task];
    longest = std::max(longest, now + 1 - running->job.release);
    result.missed = result.missed || now + 1 > running->deadline;
    live.erase(live.begin() + (running - live.data()));
  }
  return result;
}

void add_periodic(std::vector<OracleJob>& jobs, const std::vector<OracleTask>& tasks,
                  std::size_t task, std::int64_t offset, std::int64_t end) {
  for (std::int64_t time = offset; time < end; time += tasks[task].period) {
    jobs.push_back({.task = task, .release = time, .noticed = time});
  }
}

std::vector<Demand> demands_of(Rule rule, const std::vector<OracleTask>& tasks) {
  std::vector<Demand> demands;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const OracleTask& task = tasks[i];
    std::int64_t kept = sched::no_ceiling;
    if (task.group != 0) {
      kept = ceiling(rule, tasks, task.group);
    }
    if (keeps_core(rule)) {
      kept = sched::infinite_ceiling - 1;
    }
    demands.push_back({.task = i,
                       .releases = {.period = nanoseconds{task.period}},
                       .execution = nanoseconds{task.execution},
                       .deadline = nanoseconds{task.deadline},
                       .level = rank(rule, task),
                       .ceiling = kept});
  }
  return demands;
}

std::int64_t hyperperiod(const std::vector<OracleTask>& tasks) {
  std::int64_t result = 1;
  for (const OracleTask& task : tasks) {
    result = std::lcm(result, task.period);
  }
  return result;
}

double utilization(const std::vector<OracleTask>& tasks) {
  double sum = 0;
  for (const OracleTask& task : tasks) {
    sum += static_cast<double>(task.execution) / static_cast<double>(task.period);
  }
  return sum;
}

}  // namespace takt::analysis
