// SPDX-License-Identifier: Apache-2.0
#include "data_age.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "takt/os/saturating.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/placement.hpp"
#include "text.hpp"

namespace takt::sched {
namespace {

struct Chain {
  TaskIndex source = 0;
  TaskIndex writer = 0;
  nanoseconds youngest{0};
  nanoseconds oldest{0};
  bool joined = false;  // through a join
};

bool writes_topic(const Task& task, const std::string& topic) {
  return std::ranges::find(task.writes, topic) != task.writes.end();
}

// Follows topics upstream, from a topic over message tasks to the timers that feed it.
class Upstream {
 public:
  explicit Upstream(const std::vector<Task>& tasks) : tasks_(&tasks), visited_(tasks.size()) {}

  // The chain that can deliver the topic soonest after its timer's release.
  std::optional<Chain> best_chain(const std::string& topic) {
    std::optional<Chain> best;
    for (std::size_t i = 0; i < tasks_->size(); ++i) {
      if (!visited_[i] && writes_topic(task(i), topic)) {
        const auto chain = chain_to(static_cast<TaskIndex>(i));
        if (chain && (!best || std::tie(chain->youngest, chain->oldest) <
                                   std::tie(best->youngest, best->oldest))) {
          best = chain;
        }
      }
    }
    return best;
  }

  // Every task through which the topic's data comes, timers included.
  void collect(const std::string& topic, std::vector<TaskIndex>& producers) {
    for (std::size_t i = 0; i < tasks_->size(); ++i) {
      if (!visited_[i] && writes_topic(task(i), topic)) {
        visited_[i] = true;
        producers.push_back(static_cast<TaskIndex>(i));
        if (task(i).kind == TaskKind::message) {
          collect(task(i).trigger, producers);
        }
      }
    }
  }

 private:
  [[nodiscard]] const Task& task(std::size_t index) const { return (*tasks_)[index]; }

  std::optional<Chain> chain_to(TaskIndex writer) {
    const TaskParameters& parameters = task(writer).parameters;
    const nanoseconds deadline = relative_deadline(parameters);
    if (task(writer).kind == TaskKind::timer) {
      return Chain{.source = writer,
                   .writer = writer,
                   .youngest = parameters.expected_execution,
                   .oldest = os::add_sat(parameters.period, deadline)};
    }
    visited_[writer] = true;  // on the way from here upstream; topics may form a circle
    auto chain = best_chain(task(writer).trigger);
    visited_[writer] = false;
    if (chain) {
      chain->writer = writer;
      chain->joined = chain->joined || task(writer).joined;
      chain->youngest = os::add_sat(chain->youngest, parameters.expected_execution);
      chain->oldest =
          os::add_sat(chain->oldest, deadline.count() > 0 ? deadline : nanoseconds::max());
    }
    return chain;
  }

  const std::vector<Task>* tasks_;
  std::vector<bool> visited_;
};

// What may come before a job of the reader under fixed priorities, from its release on.
struct Ahead {
  nanoseconds once{0};                // whatever holds the core, or its source's jobs
  std::vector<const Task*> releases;  // of those with at least its priority
};

// Nothing where somebody does not say how long it computes, or how often it is released.
std::optional<Ahead> ahead_of(const std::vector<Task>& tasks, const AgeConstraint& constraint,
                              bool preemptive) {
  const Task& reader = tasks[constraint.reader];
  Ahead ahead;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& other = tasks[i];
    const TaskParameters& parameters = other.parameters;
    const bool elsewhere = other.cpu >= 0 && reader.cpu >= 0 && other.cpu != reader.cpu;
    if (i == constraint.reader || elsewhere || !parameters.active) {
      continue;
    }
    const bool comes_before = parameters.priority >= reader.parameters.priority;
    const bool holds_up = !preemptive || !other.group.empty();
    if (parameters.expected_execution.count() == 0 ||
        (comes_before && parameters.period.count() == 0)) {
      return {};
    }
    if (comes_before) {
      ahead.releases.push_back(&other);
    } else if (i == constraint.source) {
      // The job before, and the one that it needs.
      ahead.once = os::add_sat(ahead.once, 2 * parameters.expected_execution);
    } else if (holds_up || parameters.boosted_priority >= reader.parameters.priority) {
      ahead.once = os::add_sat(ahead.once, parameters.expected_execution);
    }
  }
  return ahead;
}

// The longest from the release of a job to its start, up to `limit` (Joseph & Pandya 1986, with
// everything that may be released up to the start). `limit`, too, where that takes long to find, or
// there may be no end: those that come before have the core almost for themselves.
nanoseconds longest_wait(const Ahead& ahead, nanoseconds limit) {
  constexpr int most_steps = 1000;
  constexpr double almost_full = 0.999;
  double share = 0;
  for (const Task* const task : ahead.releases) {
    share += utilization(task->parameters);
  }
  nanoseconds wait{0};
  for (int step = 0; share < almost_full && step < most_steps; ++step) {
    nanoseconds sum = ahead.once;
    for (const Task* const task : ahead.releases) {
      const TaskParameters& parameters = task->parameters;
      const nanoseconds window = os::add_sat(wait, task->jitter);
      if (window > longest_time) {
        return limit;
      }
      sum = os::add_sat(sum, (window / parameters.period + 1) * parameters.expected_execution);
    }
    if (sum <= wait || sum >= limit) {
      return std::min(sum, limit);
    }
    wait = sum;
  }
  return limit;
}

}  // namespace

std::vector<AgeConstraint> find_age_constraints(const std::vector<Task>& tasks) {
  std::vector<AgeConstraint> constraints;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const Read& read : tasks[i].reads) {
      if (read.max_age.count() == 0) {
        continue;
      }
      AgeConstraint constraint{.reader = static_cast<TaskIndex>(i),
                               .topic = read.topic,
                               .max_age = read.max_age,
                               .source = {}};
      if (tasks[i].kind == TaskKind::timer) {
        constraint.reader_period = tasks[i].parameters.period;
      }
      if (const auto chain = Upstream{tasks}.best_chain(read.topic)) {
        if (!chain->joined) {
          constraint.source = chain->source;
        }
        constraint.youngest = chain->youngest;
        constraint.oldest = chain->oldest;
        if (read.max_age < chain->youngest) {
          throw ScheduleError(
              task_text(tasks[i]),
              "it allows topic " + name_text(read.topic) + " an age of " + time_text(read.max_age) +
                  ", but the data takes at least " + time_text(chain->youngest) + " from " +
                  task_text(tasks[chain->source]) +
                  (chain->writer == chain->source ? std::string{}
                                                  : " over " + task_text(tasks[chain->writer])),
              "allow more age, or make the callbacks that produce the data shorter");
        }
      }
      constraints.push_back(std::move(constraint));
    }
  }
  return constraints;
}

void raise_producers(std::vector<Task>& tasks, const std::vector<AgeConstraint>& constraints) {
  bool changed = true;
  const auto raise = [&](int& priority, int to) {
    changed = changed || priority < to;
    priority = std::max(priority, to);
  };
  while (std::exchange(changed, false)) {  // a producer may limit the age of its own data
    for (const AgeConstraint& constraint : constraints) {
      const int priority = highest_priority_of(tasks[constraint.reader].parameters);
      if (constraint.needs_early_release()) {
        TaskParameters& source = tasks[*constraint.source].parameters;
        if (priority > source.priority) {
          raise(source.boosted_priority, priority);
        }
      }
      std::vector<TaskIndex> producers;
      Upstream{tasks}.collect(constraint.topic, producers);
      for (const TaskIndex producer : producers) {
        if (tasks[producer].kind == TaskKind::message) {
          raise(tasks[producer].parameters.priority, priority);
        }
      }
    }
  }
}

void find_latest_starts(const std::vector<Task>& tasks, const Policy& policy,
                        std::vector<AgeConstraint>& constraints) {
  constexpr int undeclared_part = 10;
  for (AgeConstraint& constraint : constraints) {
    const Task& reader = tasks[constraint.reader];
    const nanoseconds deadline = relative_deadline(reader.parameters);
    const nanoseconds by_deadline =
        std::max(nanoseconds{0}, deadline - reader.parameters.expected_execution);
    constraint.latest_start = by_deadline;
    if (!policy.fixed_priority() || !policy.work_conserving()) {
      continue;
    }
    if (const auto ahead = ahead_of(tasks, constraint, policy.preemptive())) {
      const nanoseconds wait = os::add_sat(reader.jitter, longest_wait(*ahead, by_deadline));
      constraint.latest_start = std::min(by_deadline, wait + constraint.max_age / undeclared_part);
    }
  }
}

}  // namespace takt::sched
