// SPDX-License-Identifier: Apache-2.0
#include "analysis/every_run_of_cores.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

namespace takt::analysis {
namespace {

constexpr std::size_t most_pending = 5;
constexpr std::int64_t longest_age = 200;

struct Job {
  std::uint8_t age = 0;    // since the timer's release
  std::uint8_t since = 0;  // its own
};

struct TaskState {
  std::uint8_t since = 0;        // the timer's last release, up to its period
  std::uint8_t until_first = 0;  // of a regular timer
  std::uint8_t done = 0;         // what the first job has computed
  bool started = false;
  bool published = false;
  bool computed = false;  // all that it computes
  std::vector<Job> jobs = {};
};

// A time at which timers have been released, and what has been computed has ended.
struct Moment {
  std::vector<TaskState> tasks;

  [[nodiscard]] std::string key() const {
    std::string result;
    for (const TaskState& task : tasks) {
      const int flags = (task.started ? 1 : 0) + (task.published ? 2 : 0) + (task.computed ? 4 : 0);
      result += {static_cast<char>(task.since), static_cast<char>(task.until_first),
                 static_cast<char>(task.done), static_cast<char>(flags),
                 static_cast<char>(task.jobs.size())};
      for (const Job& job : task.jobs) {
        result += {static_cast<char>(job.age), static_cast<char>(job.since)};
      }
    }
    return result;
  }
};

class Search {
 public:
  Search(Rule rule, const std::vector<CoreTask>& tasks) : rule_(rule), tasks_(tasks) {
    for (const CoreTask& task : tasks) {
      cores_ = std::max(cores_, task.core + 1);
    }
    reached_.latencies.assign(tasks.size(), 0);
    reached_.responses.assign(tasks.size(), 0);
    reached_.offsets.assign(tasks.size(), longest_age);
  }

  CoresReached run(std::size_t most_situations) {
    reached_.complete = true;
    begin({.tasks = std::vector<TaskState>(tasks_.size())}, 0);
    while (!open_.empty() && known_.size() <= most_situations) {
      const Moment moment = std::move(open_.back());
      open_.pop_back();
      follow(moment);
    }
    reached_.complete = reached_.complete && open_.empty();
    return reached_;
  }

 private:
  [[nodiscard]] bool is_timer(std::size_t task) const {
    return tasks_[task].before == CoreTask::timer;
  }
  [[nodiscard]] bool keeps_core() const { return rule_ == Rule::np_fp || rule_ == Rule::np_edf; }

  // Regular timers begin at any time that they may, others when they will.
  void begin(Moment moment, std::size_t i) {
    if (i == tasks_.size()) {
      release(std::move(moment), 0);
      return;
    }
    TaskState& task = moment.tasks[i];
    task.since = static_cast<std::uint8_t>(is_timer(i) ? tasks_[i].period : 0);
    for (std::int64_t first = 0; first <= tasks_[i].latest_first; ++first) {
      task.until_first = static_cast<std::uint8_t>(first);
      begin(moment, i + 1);
    }
  }

  void add(Moment moment) {
    if (known_.insert(moment.key()).second) {
      open_.push_back(std::move(moment));
    }
  }

  [[nodiscard]] std::int64_t urgency(const Moment& moment, std::size_t i) const {
    return rule_ == Rule::fp || rule_ == Rule::np_fp
               ? -tasks_[i].priority
               : tasks_[i].deadline - moment.tasks[i].jobs.front().since;
  }

  // The tasks of which one has the core: whoever has started, or several, where deadlines are
  // equal.
  [[nodiscard]] std::vector<std::size_t> chosen(const Moment& moment, std::size_t core) const {
    std::vector<std::size_t> result;
    std::int64_t least = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const TaskState& task = moment.tasks[i];
      if (tasks_[i].core != core || task.jobs.empty()) {
        continue;
      }
      if (keeps_core() && task.started) {
        return {i};
      }
      if (result.empty() || urgency(moment, i) < least) {
        result.clear();
        least = urgency(moment, i);
      }
      if (urgency(moment, i) == least) {
        result.push_back(i);
      }
    }
    const auto started =
        std::ranges::find_if(result, [&](std::size_t i) { return moment.tasks[i].started; });
    return started == result.end() ? result : std::vector{*started};
  }

  // All steps of jobs that take no time, and then time itself.
  void follow(const Moment& moment) {
    for (std::size_t core = 0; core < cores_; ++core) {
      for (const std::size_t i : chosen(moment, core)) {
        step(moment, i);
      }
    }
    if (!must_end(moment)) {
      if (is_late(moment)) {
        release(moment, 0);
      } else {
        pass(moment, 0, {});
      }
    }
  }

  // Whether a regular timer has not been released yet at its time, for a job had to end before.
  [[nodiscard]] bool is_late(const Moment& moment) const {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].regular && may_release(moment, i)) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool may_release(const Moment& moment, std::size_t i) const {
    return is_timer(i) && std::int64_t{moment.tasks[i].since} == tasks_[i].period &&
           moment.tasks[i].until_first == 0;
  }

  void step(const Moment& moment, std::size_t i) {
    const TaskState& task = moment.tasks[i];
    Moment next = moment;
    if (task.computed) {
      end(next, i);
      add(std::move(next));
      return;
    }
    if (task.done == 0 && tasks_[i].best == 0) {
      finish(next, {i});
    }
    // A job that keeps its core starts before any other one is released because of it.
    if (tasks_[i].anywhere && !task.published && (task.done > 0 || !keeps_core())) {
      next = moment;
      next.tasks[i].started = next.tasks[i].published = true;
      publish(next, i, task.jobs.front().age, true);
      publish(next, i, task.jobs.front().age, false);
      add(std::move(next));
    }
  }

  // These have computed all. First what their messages release on their own cores is there, then
  // they end, and after that others come at this time: messages of other cores, and timers. Or the
  // messages of other cores come before they end, and what these lead to in no time.
  void finish(Moment moment, const std::vector<std::size_t>& these) {
    std::vector<std::pair<std::size_t, std::uint8_t>> messages;
    for (const std::size_t i : these) {
      TaskState& task = moment.tasks[i];
      task.started = task.computed = true;
      if (!task.published) {
        task.published = true;
        publish(moment, i, task.jobs.front().age, true);
        messages.emplace_back(i, task.jobs.front().age);
      }
    }
    if (these.size() == 1 && !messages.empty()) {
      Moment at_once = moment;
      publish(at_once, messages.front().first, messages.front().second, false);
      add(std::move(at_once));
    }
    end_all(std::move(moment), these, messages);
  }

  // Whether a job that has computed all ends next.
  [[nodiscard]] bool must_end(const Moment& moment) const {
    for (std::size_t core = 0; core < cores_; ++core) {
      const std::vector<std::size_t> running = chosen(moment, core);
      if (running.size() == 1 && moment.tasks[running.front()].computed) {
        return true;
      }
    }
    return false;
  }

  void end_all(Moment moment, const std::vector<std::size_t>& these,
               const std::vector<std::pair<std::size_t, std::uint8_t>>& messages) {
    for (const std::size_t i : these) {
      const std::vector<std::size_t> first = chosen(moment, tasks_[i].core);
      const auto ends = std::ranges::find_if(
          first, [&](std::size_t other) { return moment.tasks[other].computed; });
      if (ends == first.end() || std::ranges::find(waits_, *ends) != waits_.end()) {
        continue;
      }
      if (first.size() > 1) {
        waits_.push_back(*ends);
        end_all(moment, these, messages);
        waits_.pop_back();
      }
      end(moment, *ends);
      end_all(std::move(moment), these, messages);
      return;
    }
    for (const auto& [i, age] : messages) {
      publish(moment, i, age, false);
    }
    if (must_end(moment)) {
      add(std::move(moment));  // no timer comes before
    } else {
      release(std::move(moment), 0);
    }
  }

  // To tasks on its own core, or to others.
  void publish(Moment& moment, std::size_t i, std::uint8_t age, bool here) {
    for (std::size_t next = 0; next < tasks_.size(); ++next) {
      if (tasks_[next].before == i && (tasks_[next].core == tasks_[i].core) == here) {
        reached_.offsets[next] = std::min<std::int64_t>(reached_.offsets[next], age);
        push(moment.tasks[next], {.age = age});
      }
    }
  }

  void push(TaskState& task, Job job) {
    if (task.jobs.size() == most_pending) {
      reached_.complete = false;
      return;
    }
    task.jobs.push_back(job);
  }

  void end(Moment& moment, std::size_t i) {
    TaskState& task = moment.tasks[i];
    const Job job = task.jobs.front();
    reached_.latencies[i] = std::max<std::int64_t>(reached_.latencies[i], job.age);
    reached_.responses[i] = std::max<std::int64_t>(reached_.responses[i], job.since);
    task.jobs.erase(task.jobs.begin());
    task.done = 0;
    task.started = task.published = task.computed = false;
  }

  // Each timer that may be released is, or not.
  void release(Moment moment, std::size_t i) {
    if (i == tasks_.size()) {
      add(std::move(moment));
      return;
    }
    const bool may = may_release(moment, i);
    if (may) {
      Moment released = moment;
      released.tasks[i].since = 0;
      push(released.tasks[i], {});
      release(std::move(released), i + 1);
    }
    if (!may || !tasks_[i].regular) {
      release(std::move(moment), i + 1);
    }
  }

  // Each of the running jobs that may end does, or not.
  void complete(const Moment& moment, const std::vector<std::size_t>& running, std::size_t at,
                const std::vector<std::size_t>& these) {
    if (at == running.size()) {
      if (these.empty()) {
        release(moment, 0);
      } else {
        finish(moment, these);
      }
      return;
    }
    const std::size_t i = running[at];
    const std::int64_t done = moment.tasks[i].done;
    if (done >= tasks_[i].best) {
      std::vector<std::size_t> with = these;
      with.push_back(i);
      complete(moment, running, at + 1, with);
    }
    if (done < tasks_[i].worst) {
      complete(moment, running, at + 1, these);
    }
  }

  // A tick, with one running job on each core.
  void pass(const Moment& moment, std::size_t core, std::vector<std::size_t> running) {
    if (core < cores_) {
      const std::vector<std::size_t> all = chosen(moment, core);
      for (const std::size_t i : all) {
        if (!moment.tasks[i].computed) {
          std::vector<std::size_t> with = running;
          with.push_back(i);
          pass(moment, core + 1, std::move(with));
        }
      }
      if (all.empty()) {
        pass(moment, core + 1, std::move(running));
      }
      return;
    }
    Moment next = moment;
    for (const std::size_t i : running) {
      ++next.tasks[i].done;
      next.tasks[i].started = true;
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      TaskState& task = next.tasks[i];
      if (task.until_first > 0) {
        --task.until_first;
      } else if (is_timer(i) && std::int64_t{task.since} < tasks_[i].period) {
        ++task.since;
      }
      for (Job& job : task.jobs) {
        ++job.age;
        ++job.since;
        if (job.age > longest_age) {
          reached_.complete = false;
          return;
        }
      }
    }
    complete(next, running, 0, {});
  }

  Rule rule_;
  const std::vector<CoreTask>& tasks_;
  std::size_t cores_ = 1;
  std::vector<Moment> open_;
  std::unordered_set<std::string> known_;
  std::vector<std::size_t> waits_;  // of those whose deadline is that of another one
  CoresReached reached_;
};

}  // namespace

CoresReached reach_all_on_cores(Rule rule, const std::vector<CoreTask>& tasks,
                                std::size_t most_situations) {
  return Search{rule, tasks}.run(most_situations);
}

}  // namespace takt::analysis
