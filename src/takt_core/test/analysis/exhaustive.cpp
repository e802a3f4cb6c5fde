// SPDX-License-Identifier: Apache-2.0
#include "analysis/exhaustive.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <unordered_set>

namespace takt::analysis {
namespace {

constexpr std::size_t most_tasks = 6;
constexpr std::size_t most_waiting = 7;
constexpr std::int64_t most_age = 120;

// Bytes only, so that situations compare as they lie in memory.
struct TaskNow {
  std::uint8_t next = 0;     // ticks to the next release by time
  std::uint8_t waiting = 0;  // jobs that are released and have not ended; the first is the current
  std::uint8_t noticed = 0;  // whether the core knows of the current one
  std::uint8_t computed = 0;
  std::uint8_t place = 0;  // among the jobs that have started, from 1; 0: it has not
  std::array<std::uint8_t, most_waiting> ages = {};  // since their releases, the oldest first
};

struct Situation {
  std::array<TaskNow, most_tasks> tasks = {};

  [[nodiscard]] std::string_view bytes() const {
    return {reinterpret_cast<const char*>(tasks.data()), sizeof(tasks)};
  }
  bool operator==(const Situation& other) const { return bytes() == other.bytes(); }
};
static_assert(sizeof(Situation) == most_tasks * (5 + most_waiting));

struct Hash {
  std::size_t operator()(const Situation& situation) const {
    return std::hash<std::string_view>{}(situation.bytes());
  }
};

constexpr std::size_t nobody_runs = most_tasks;

class Search {
 public:
  Search(const Exhaustive& options, const std::vector<ExhaustiveTask>& tasks)
      : options_(options), tasks_(tasks) {
    result_.responses.assign(tasks.size(), 0);
    result_.complete = true;
  }

  Reached run() {
    Situation first;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      first.tasks[i].next = static_cast<std::uint8_t>(options_.sporadic ? 0 : of(i).offset);
    }
    add(first);
    while (!todo_.empty() && !(options_.until_missed && result_.missed)) {
      if (seen_.size() > options_.most_situations) {
        result_.complete = false;
        break;
      }
      const Situation situation = todo_.back();
      todo_.pop_back();
      release_from(situation, 0);
    }
    result_.situations = seen_.size();
    return result_;
  }

 private:
  [[nodiscard]] const OracleTask& of(std::size_t task) const { return tasks_[task].task; }
  [[nodiscard]] std::int64_t declared(std::size_t task) const {
    return tasks_[task].declared > 0 ? tasks_[task].declared : of(task).execution;
  }
  [[nodiscard]] bool is_timer(std::size_t task) const { return tasks_[task].writers.empty(); }
  [[nodiscard]] bool is_edf() const {
    return options_.rule == Rule::edf || options_.rule == Rule::np_edf ||
           options_.rule == Rule::cw_edf;
  }
  [[nodiscard]] bool preempts() const {
    return options_.rule == Rule::fp || options_.rule == Rule::edf;
  }

  void add(const Situation& situation) {
    if (seen_.insert(situation).second) {
      todo_.push_back(situation);
    }
  }

  // What follows is done one after the other at each tick; each choice is a branch.
  void release_from(Situation now, std::size_t task) {
    for (; task < tasks_.size(); ++task) {
      TaskNow& own = now.tasks[task];
      if (!is_timer(task) || own.next > 0) {
        continue;
      }
      if (options_.sporadic) {
        release_from(now, task + 1);  // not yet
      }
      if (!push(own)) {
        return;
      }
      own.next = static_cast<std::uint8_t>(of(task).period);
    }
    notice_from(now, 0);
  }

  bool push(TaskNow& task) {
    if (task.waiting == most_waiting) {
      result_.complete = false;
      return false;
    }
    task.ages[task.waiting++] = 0;
    return true;
  }

  void notice_from(Situation now, std::size_t task) {
    for (; task < tasks_.size(); ++task) {
      TaskNow& own = now.tasks[task];
      if (own.waiting == 0 || own.noticed != 0) {
        continue;
      }
      if (own.ages[0] < of(task).lag) {
        notice_from(now, task + 1);  // not yet
      }
      own.noticed = 1;
    }
    compute(now);
  }

  // A tick of whoever has the core.
  void compute(Situation now) {
    const std::size_t runs = choose(now);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      TaskNow& task = now.tasks[i];
      if (is_timer(i) && task.next > 0) {
        --task.next;
      }
      for (std::size_t k = 0; k < task.waiting; ++k) {
        if (++task.ages[k] > most_age) {
          result_.complete = false;
          return;
        }
      }
      result_.missed = result_.missed || (task.waiting > 0 && task.ages[0] > of(i).deadline);
    }
    if (runs == nobody_runs) {
      add(now);
      return;
    }
    const std::int64_t computed = ++now.tasks[runs].computed;
    const std::int64_t best = of(runs).best > 0 ? of(runs).best : of(runs).execution;
    if (computed < of(runs).execution) {
      add(now);
    }
    if (computed >= best) {
      end(now, runs);
    }
  }

  void end(Situation now, std::size_t task) {
    TaskNow& own = now.tasks[task];
    result_.responses[task] = std::max<std::int64_t>(result_.responses[task], own.ages[0]);
    std::ranges::rotate(own.ages, own.ages.begin() + 1);
    own.ages.back() = 0;
    --own.waiting;
    // What was released before this moment, and waits, is stale.
    const std::uint8_t kept = tasks_[task].drop == Drop::nothing ? own.waiting
                              : tasks_[task].drop == Drop::stale ? std::uint8_t{0}
                                                                 : std::uint8_t{1};
    while (own.waiting > kept) {
      own.ages[--own.waiting] = 0;
    }
    own.noticed = 0;
    own.computed = 0;
    own.place = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const auto& writers = tasks_[i].writers;
      if (std::ranges::find(writers, task) != writers.end() && !push(now.tasks[i])) {
        return;
      }
    }
    add(now);
  }

  [[nodiscard]] std::int64_t left(const Situation& now, std::size_t task) const {
    return of(task).deadline - now.tasks[task].ages[0];
  }
  // The smaller comes first by the rule.
  [[nodiscard]] std::int64_t urgency(const Situation& now, std::size_t task) const {
    return is_edf() ? left(now, task) : -std::int64_t{of(task).priority};
  }
  [[nodiscard]] std::int64_t level(std::size_t task) const {
    return is_edf() ? -of(task).deadline : of(task).priority;
  }

  // Starts a job if one is to be started; who computes then.
  std::size_t choose(Situation& now) const {
    std::size_t first = nobody_runs;
    std::size_t running = nobody_runs;
    const auto order = [&](std::size_t i) {
      return std::tuple{urgency(now, i), -std::int64_t{now.tasks[i].ages[0]}, i};
    };
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const TaskNow& task = now.tasks[i];
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
      if (!lets_start(now, first)) {
        return nobody_runs;
      }
      now.tasks[first].place = 1;
      return first;
    }
    if (!preempts() || urgency(now, first) >= urgency(now, running) || is_held(now, first)) {
      return running;
    }
    now.tasks[first].place = static_cast<std::uint8_t>(now.tasks[running].place + 1);
    return first;
  }

  // Whether a group that a started job holds keeps it out (Baker 1991).
  [[nodiscard]] bool is_held(const Situation& now, std::size_t task) const {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (now.tasks[i].place == 0 || of(i).group == 0) {
        continue;
      }
      for (std::size_t k = 0; k < tasks_.size(); ++k) {
        if (of(k).group == of(i).group && level(task) <= level(k)) {
          return true;
        }
      }
    }
    return false;
  }

  // The published rules of policies that leave the core idle: is there time for this job before
  // those that are still to be released? They are kept waiting only where that saves them.
  [[nodiscard]] bool lets_start(const Situation& now, std::size_t task) const {
    if (options_.rule != Rule::p_rm && options_.rule != Rule::cw_edf) {
      return true;
    }
    struct Next {
      std::int64_t deadline;
      std::int64_t execution;
    };
    int top = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      top = is_timer(i) ? std::max(top, of(i).priority) : top;
    }
    std::vector<Next> behind;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const Next next{now.tasks[i].next + of(i).deadline, declared(i)};
      const bool counts = options_.rule == Rule::p_rm
                              ? of(i).priority == top && of(task).priority < top
                              : i != task && next.deadline < left(now, task);
      if (is_timer(i) && counts) {
        behind.push_back(next);
      }
    }
    std::ranges::sort(behind, {}, &Next::deadline);
    std::int64_t work = 0;
    for (std::size_t i = 0; i < behind.size(); ++i) {
      work += behind[i].execution;
      const bool last = i + 1 == behind.size() || behind[i + 1].deadline > behind[i].deadline;
      if (last && work <= behind[i].deadline && work + declared(task) > behind[i].deadline) {
        return false;
      }
    }
    return true;
  }

  const Exhaustive& options_;
  const std::vector<ExhaustiveTask>& tasks_;
  std::unordered_set<Situation, Hash> seen_;
  std::vector<Situation> todo_;
  Reached result_;
};

}  // namespace

Reached reach_all(const Exhaustive& options, const std::vector<ExhaustiveTask>& tasks) {
  return Search{options, tasks}.run();
}

}  // namespace takt::analysis
